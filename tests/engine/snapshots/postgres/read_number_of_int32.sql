SELECT
  CAST("t0"."c" AS DOUBLE PRECISION) AS "c"
FROM "records" AS "t0"
