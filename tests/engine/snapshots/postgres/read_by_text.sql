SELECT
  CASE "t1"."`plain 0`"
    WHEN ''
    THEN CAST(NULL AS VARCHAR)
    WHEN 'na'
    THEN CAST(NULL AS VARCHAR)
    WHEN 'male'
    THEN 'Male'
    WHEN 'm'
    THEN 'Male'
    ELSE TRIM('' || ' ' || CHR(  9) || CHR(  10) || CHR(  13) || CHR(  11) || CHR(  12) FROM TEXTIN(TEXTOUT(CAST("t1"."c" AS VARCHAR))))
  END AS "c"
FROM (
  SELECT
    "t0"."c",
    TRANSLATE(
      TRIM('' || ' ' || CHR(  9) || CHR(  10) || CHR(  13) || CHR(  11) || CHR(  12) FROM TEXTIN(TEXTOUT(CAST("t0"."c" AS VARCHAR)))),
      'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
      'abcdefghijklmnopqrstuvwxyz'
    ) AS "`plain 0`"
  FROM "records" AS "t0"
) AS "t1"
