SELECT
  CASE "t1"."`plain 0`"
    WHEN 'Male'
    THEN 'Male'
    WHEN '1'
    THEN 'Male'
    ELSE TRY(DECODE(ENCODE(CAST("t1"."c" AS TEXT))))
  END AS "c"
FROM (
  SELECT
    "t0"."c",
    TRY(DECODE(ENCODE(CAST("t0"."c" AS TEXT)))) AS "`plain 0`"
  FROM "records" AS "t0"
) AS "t1"
