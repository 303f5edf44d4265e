SELECT
  CASE TRIM(
      TRY(DECODE(ENCODE(CAST("t0"."c" AS TEXT)))),
      '' || ' ' || CHR(9) || CHR(10) || CHR(13) || CHR(11) || CHR(12)
    )
    WHEN 'none'
    THEN CAST(NULL AS TEXT)
    ELSE TRIM(
      TRY(DECODE(ENCODE(CAST("t0"."c" AS TEXT)))),
      '' || ' ' || CHR(9) || CHR(10) || CHR(13) || CHR(11) || CHR(12)
    )
  END AS "c"
FROM "records" AS "t0"
