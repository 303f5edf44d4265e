SELECT
  MAKE_TIMESTAMP(
    (
      (
        CAST((
          CAST(FLOOR(
            (
              CASE
                WHEN "t0"."c" BETWEEN -9999999999 AND 99999999999
                THEN "t0"."c"
                ELSE CAST(NULL AS DOUBLE)
              END * 1000000.0
            ) + 0.5
          ) AS BIGINT) - (
            (
              (
                CAST(FLOOR(
                  (
                    CASE
                      WHEN "t0"."c" BETWEEN -9999999999 AND 99999999999
                      THEN "t0"."c"
                      ELSE CAST(NULL AS DOUBLE)
                    END * 1000000.0
                  ) + 0.5
                ) AS BIGINT) % 1000000
              ) + 1000000
            ) % 1000000
          )
        ) / 1000000 AS BIGINT) + 0
      ) * 1000000
    ) + (
      (
        (
          CAST(FLOOR(
            (
              CASE
                WHEN "t0"."c" BETWEEN -9999999999 AND 99999999999
                THEN "t0"."c"
                ELSE CAST(NULL AS DOUBLE)
              END * 1000000.0
            ) + 0.5
          ) AS BIGINT) % 1000000
        ) + 1000000
      ) % 1000000
    )
  ) AS "c"
FROM "records" AS "t0"
