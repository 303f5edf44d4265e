SELECT
  CASE "t1"."`plain 0`"
    WHEN 'ja'
    THEN TRUE
    WHEN 'nein'
    THEN FALSE
    ELSE CAST(NULL AS BOOLEAN)
  END AS "c"
FROM (
  SELECT
    "t0"."c",
    TRIM('' || ' ' || CHR(  9) || CHR(  10) || CHR(  13) || CHR(  11) || CHR(  12) FROM TEXTIN(TEXTOUT(CAST("t0"."c" AS VARCHAR)))) AS "`plain 0`"
  FROM "records" AS "t0"
) AS "t1"
