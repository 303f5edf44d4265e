SELECT
  NULLIF(
    NULLIF(
      CASE
        WHEN "t0"."c" = 0
        THEN 0.0
        WHEN "t0"."c" BETWEEN -1.7976931348623157E+308 AND 1.7976931348623157e+308
        THEN "t0"."c"
        ELSE CAST(NULL AS DOUBLE PRECISION)
      END,
      -9
    ),
    CAST('99.5' AS DOUBLE PRECISION)
  ) AS "c"
FROM "records" AS "t0"
