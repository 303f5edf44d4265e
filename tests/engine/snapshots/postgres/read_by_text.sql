SELECT
  CASE TRANSLATE(
      TRIM('' || ' ' || CHR(  9) || CHR(  10) || CHR(  13) || CHR(  11) || CHR(  12) FROM TEXTIN(TEXTOUT(CAST("t0"."c" AS VARCHAR)))),
      'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
      'abcdefghijklmnopqrstuvwxyz'
    )
    WHEN ''
    THEN CAST(NULL AS VARCHAR)
    WHEN 'na'
    THEN CAST(NULL AS VARCHAR)
    WHEN 'male'
    THEN 'Male'
    WHEN 'm'
    THEN 'Male'
    ELSE TRIM('' || ' ' || CHR(  9) || CHR(  10) || CHR(  13) || CHR(  11) || CHR(  12) FROM TEXTIN(TEXTOUT(CAST("t0"."c" AS VARCHAR))))
  END AS "c"
FROM "records" AS "t0"
