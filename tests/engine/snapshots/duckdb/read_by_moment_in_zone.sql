SELECT
  TIMEZONE(
    'UTC',
    CASE
      WHEN "t0"."c" BETWEEN CAST('0002-01-01 00:00:00+00' AS TIMESTAMPTZ) AND CAST('9998-12-31 00:00:00+00' AS TIMESTAMPTZ)
      THEN "t0"."c"
      ELSE CAST(NULL AS TIMESTAMPTZ)
    END
  ) + TO_SECONDS(
    LIST_EXTRACT(
      LIST_APPLY(
        CAST([
          CAST(EPOCH(
            CAST(DATE_TRUNC(
              'SECOND',
              TIMEZONE(
                'UTC',
                CASE
                  WHEN "t0"."c" BETWEEN CAST('0002-01-01 00:00:00+00' AS TIMESTAMPTZ) AND CAST('9998-12-31 00:00:00+00' AS TIMESTAMPTZ)
                  THEN "t0"."c"
                  ELSE CAST(NULL AS TIMESTAMPTZ)
                END
              )
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
