SELECT
  MAKE_TIMESTAMP(
    (
      (
        CAST((
          (
            CASE
              WHEN "t0"."c" BETWEEN -9999999999 AND 99999999999
              THEN "t0"."c"
              ELSE CAST(NULL AS BIGINT)
            END * 1000000
          ) - (
            (
              (
                (
                  CASE
                    WHEN "t0"."c" BETWEEN -9999999999 AND 99999999999
                    THEN "t0"."c"
                    ELSE CAST(NULL AS BIGINT)
                  END * 1000000
                ) % 1000000
              ) + 1000000
            ) % 1000000
          )
        ) / 1000000 AS BIGINT) + LIST_EXTRACT(
          LIST_APPLY(
            CAST([
              CAST((
                (
                  CASE
                    WHEN "t0"."c" BETWEEN -9999999999 AND 99999999999
                    THEN "t0"."c"
                    ELSE CAST(NULL AS BIGINT)
                  END * 1000000
                ) - (
                  (
                    (
                      (
                        CASE
                          WHEN "t0"."c" BETWEEN -9999999999 AND 99999999999
                          THEN "t0"."c"
                          ELSE CAST(NULL AS BIGINT)
                        END * 1000000
                      ) % 1000000
                    ) + 1000000
                  ) % 1000000
                )
              ) / 1000000 AS BIGINT)
            ] AS BIGINT[]),
            __ibis_param_item__ -> CASE
              WHEN __ibis_param_item__ < 504901800
              THEN CASE WHEN __ibis_param_item__ < -1577943676 THEN 20476 ELSE 19800 END
              ELSE 20700
            END
          ),
          1
        )
      ) * 1000000
    ) + (
      (
        (
          (
            CASE
              WHEN "t0"."c" BETWEEN -9999999999 AND 99999999999
              THEN "t0"."c"
              ELSE CAST(NULL AS BIGINT)
            END * 1000000
          ) % 1000000
        ) + 1000000
      ) % 1000000
    )
  ) AS "c"
FROM "records" AS "t0"
