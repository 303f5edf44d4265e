SELECT
  TRY(DECODE(ENCODE(CAST("t0"."c" AS TEXT)))) AS "c"
FROM "records" AS "t0"
