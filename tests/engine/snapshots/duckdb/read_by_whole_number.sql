SELECT
  CASE
    WHEN TRIM(
      TRY(DECODE(ENCODE(CAST("t1"."c" AS TEXT)))),
      '' || ' ' || CHR(9) || CHR(10) || CHR(13) || CHR(11) || CHR(12)
    ) IN ('9')
    THEN CAST(NULL AS BIGINT)
    ELSE CASE
      WHEN REGEXP_MATCHES(
        "t1"."`plain 0`",
        '^[+-]?(?:(?:[0-9]{1,3}(?:[    ][0-9]{3}){1,4}|[0-9]{1,15})(?:[.]0*)?)$'
      )
      THEN TRY_CAST(REGEXP_EXTRACT(
        REPLACE(
          REPLACE(REPLACE(REPLACE(REPLACE("t1"."`plain 0`", ' ', ''), ' ', ''), ' ', ''), ' ', ''),
          '+',
          ''
        ),
        '^(-?[0-9]+)[.]?0*$',
        1
      ) AS BIGINT)
      ELSE CAST(NULL AS BIGINT)
    END
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
