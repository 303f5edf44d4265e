SELECT
  CASE
    WHEN TIMEZONE('UTC', "t0"."c") BETWEEN MAKE_TIMESTAMP(2, 1, 1, 0, 0, 0.0) AND MAKE_TIMESTAMP(9998, 12, 31, 23, 59, 59.999999)
    THEN TIMEZONE('UTC', "t0"."c")
    ELSE CAST(NULL AS TIMESTAMP(6))
  END + TO_SECONDS(
    LIST_EXTRACT(
      LIST_APPLY(
        CAST([
          CAST(EPOCH(
            CAST(DATE_TRUNC(
              'SECOND',
              CASE
                WHEN TIMEZONE('UTC', "t0"."c") BETWEEN MAKE_TIMESTAMP(2, 1, 1, 0, 0, 0.0) AND MAKE_TIMESTAMP(9998, 12, 31, 23, 59, 59.999999)
                THEN TIMEZONE('UTC', "t0"."c")
                ELSE CAST(NULL AS TIMESTAMP(6))
              END
            ) AS TIMESTAMP)
          ) AS BIGINT)
        ] AS BIGINT[]),
        __ibis_param_item__ -> CASE
          WHEN __ibis_param_item__ < 504901800
          THEN CASE WHEN __ibis_param_item__ < -1577943676 THEN 20476 ELSE 19800 END
          ELSE 20700
        END
      ),
      1
    )
  ) AS "c"
FROM "records" AS "t0"
