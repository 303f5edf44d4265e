SELECT
  CASE "t1"."`plain 0`"
    WHEN ''
    THEN CAST(NULL AS TEXT)
    WHEN 'na'
    THEN CAST(NULL AS TEXT)
    WHEN 'male'
    THEN 'Male'
    WHEN 'm'
    THEN 'Male'
    ELSE TRIM(
      TRY(DECODE(ENCODE(CAST("t1"."c" AS TEXT)))),
      '' || ' ' || CHR(9) || CHR(10) || CHR(13) || CHR(11) || CHR(12)
    )
  END AS "c"
FROM (
  SELECT
    "t0"."c",
    TRANSLATE(
      TRIM(
        TRY(DECODE(ENCODE(CAST("t0"."c" AS TEXT)))),
        '' || ' ' || CHR(9) || CHR(10) || CHR(13) || CHR(11) || CHR(12)
      ),
      'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
      'abcdefghijklmnopqrstuvwxyz'
    ) AS "`plain 0`"
  FROM "records" AS "t0"
) AS "t1"
