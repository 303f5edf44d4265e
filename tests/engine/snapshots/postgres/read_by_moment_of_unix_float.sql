SELECT
  CAST('1970-01-01 00:00:00' AS TIMESTAMP(6)) + MAKE_INTERVAL(
    0,
    0,
    0,
    0,
    0,
    0,
    CAST(CAST(CAST((
      CAST(FLOOR(
        (
          CASE
            WHEN "t0"."c" BETWEEN -9999999999 AND 99999999999
            THEN "t0"."c"
            ELSE CAST(NULL AS DOUBLE PRECISION)
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
                  ELSE CAST(NULL AS DOUBLE PRECISION)
                END * 1000000.0
              ) + 0.5
            ) AS BIGINT) % 1000000
          ) + 1000000
        ) % 1000000
      )
    ) AS DOUBLE PRECISION) / 1000000 AS BIGINT) + 0 AS DOUBLE PRECISION)
  ) + MAKE_INTERVAL(
    0,
    0,
    0,
    0,
    0,
    0,
    CAST((
      (
        CAST(FLOOR(
          (
            CASE
              WHEN "t0"."c" BETWEEN -9999999999 AND 99999999999
              THEN "t0"."c"
              ELSE CAST(NULL AS DOUBLE PRECISION)
            END * 1000000.0
          ) + 0.5
        ) AS BIGINT) % 1000000
      ) + 1000000
    ) % 1000000 AS DOUBLE PRECISION) / 1000000.0
  ) AS "c"
FROM "records" AS "t0"
