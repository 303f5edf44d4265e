SELECT
  CASE "t1"."`plain 0`"
    WHEN 'Male'
    THEN 'Male'
    WHEN '1'
    THEN 'Male'
    ELSE TEXTIN(TEXTOUT(CAST("t1"."c" AS VARCHAR)))
  END AS "c"
FROM (
  SELECT
    "t0"."c",
    TEXTIN(TEXTOUT(CAST("t0"."c" AS VARCHAR))) AS "`plain 0`"
  FROM "records" AS "t0"
) AS "t1"
