SELECT
  CASE
    WHEN REGEXP_MATCHES(
      "t1"."`plain 0`",
      '^[+-]?(?:[0-9]{1,8}(?:[.][0-9]{0,20})?[eE][+-]?[12]?[0-9]{1,2}|[0-9]+(?:[.][0-9]*)?|[.][0-9]+)$'
    )
    AND (
      LENGTH("t1"."`plain 0`") <= 300
    )
    THEN COALESCE(
      NULLIF(TRY_CAST(REPLACE(REPLACE("t1"."`plain 0`", '+', ''), '.', '.') AS DOUBLE), 0.0),
      0.0
    )
    ELSE CAST(NULL AS DOUBLE)
  END AS "c"
FROM (
  SELECT
    "t0"."c",
    TRIM(
      TRY(DECODE(ENCODE(CAST("t0"."c" AS TEXT)))),
      '' || ' ' || CHR(9) || CHR(10) || CHR(13) || CHR(11) || CHR(12)
    ) AS "`plain 0`"
  FROM "records" AS "t0"
) AS "t1"
