SELECT
  TRY_CAST(CAST("t0"."c" AS TEXT) AS DOUBLE) AS "c"
FROM "records" AS "t0"
