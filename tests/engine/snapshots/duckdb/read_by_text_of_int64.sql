SELECT
  CASE TRY(DECODE(ENCODE(CAST("t0"."c" AS TEXT))))
    WHEN 'Male'
    THEN 'Male'
    WHEN '1'
    THEN 'Male'
    ELSE TRY(DECODE(ENCODE(CAST("t0"."c" AS TEXT))))
  END AS "c"
FROM "records" AS "t0"
