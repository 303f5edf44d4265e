SELECT
  CASE TEXTIN(TEXTOUT(CAST("t0"."c" AS VARCHAR)))
    WHEN 'Male'
    THEN 'Male'
    WHEN '1'
    THEN 'Male'
    ELSE TEXTIN(TEXTOUT(CAST("t0"."c" AS VARCHAR)))
  END AS "c"
FROM "records" AS "t0"
