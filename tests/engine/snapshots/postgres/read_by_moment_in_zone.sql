SELECT
  TIMEZONE(
    'UTC',
    CASE
      WHEN "t0"."c" BETWEEN CAST('0002-01-01 00:00:00+00' AS TIMESTAMPTZ(6)) AND CAST('9998-12-31 00:00:00+00' AS TIMESTAMPTZ(6))
      THEN "t0"."c"
      ELSE CAST(NULL AS TIMESTAMPTZ(6))
    END
  ) + MAKE_INTERVAL(
    0,
    0,
    0,
    0,
    0,
    0,
    CAST(CASE WIDTH_BUCKET(
        CAST(EXTRACT('epoch' FROM DATE_TRUNC(
          'SECOND',
          TIMEZONE(
            'UTC',
            CASE
              WHEN "t0"."c" BETWEEN CAST('0002-01-01 00:00:00+00' AS TIMESTAMPTZ(6)) AND CAST('9998-12-31 00:00:00+00' AS TIMESTAMPTZ(6))
              THEN "t0"."c"
              ELSE CAST(NULL AS TIMESTAMPTZ(6))
            END
          )
        )) AS BIGINT),
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
  ) AS "c"
FROM "records" AS "t0"
