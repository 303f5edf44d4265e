SELECT
  CAST('1970-01-01 00:00:00' AS TIMESTAMP(6)) + MAKE_INTERVAL(
    0,
    0,
    0,
    0,
    0,
    0,
    CAST(CAST(CAST((
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
    ) AS DOUBLE PRECISION) / 1000000 AS BIGINT) + CASE WIDTH_BUCKET(
        CAST(CAST((
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
        ) AS DOUBLE PRECISION) / 1000000 AS BIGINT),
        ARRAY[-1577943676, 504901800]
      )
      WHEN 0
      THEN 20476
      WHEN 1
      THEN 19800
      WHEN 2
      THEN 20700
      ELSE CAST(NULL AS BIGINT)
    END AS DOUBLE PRECISION)
  ) + MAKE_INTERVAL(
    0,
    0,
    0,
    0,
    0,
    0,
    CAST((
      (
        (
          CASE
            WHEN "t0"."c" BETWEEN -9999999999 AND 99999999999
            THEN "t0"."c"
            ELSE CAST(NULL AS BIGINT)
          END * 1000000
        ) % 1000000
      ) + 1000000
    ) % 1000000 AS DOUBLE PRECISION) / 1000000.0
  ) AS "c"
FROM "records" AS "t0"
