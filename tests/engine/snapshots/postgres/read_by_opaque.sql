SELECT
  CASE TRIM('' || ' ' || CHR(  9) || CHR(  10) || CHR(  13) || CHR(  11) || CHR(  12) FROM TEXTIN(TEXTOUT(CAST("t0"."c" AS VARCHAR))))
    WHEN 'none'
    THEN CAST(NULL AS VARCHAR)
    ELSE TRIM('' || ' ' || CHR(  9) || CHR(  10) || CHR(  13) || CHR(  11) || CHR(  12) FROM TEXTIN(TEXTOUT(CAST("t0"."c" AS VARCHAR))))
  END AS "c"
FROM "records" AS "t0"
