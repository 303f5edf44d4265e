SELECT
  CASE
    WHEN TRIM('' || ' ' || CHR(  9) || CHR(  10) || CHR(  13) || CHR(  11) || CHR(  12) FROM TEXTIN(TEXTOUT(CAST("t1"."c" AS VARCHAR)))) IN ('9')
    THEN CAST(NULL AS BIGINT)
    ELSE CASE
      WHEN "t1"."`plain 0`" ~ '^[+-]?(?:(?:[0-9]{1,3}(?:[    ][0-9]{3}){1,4}|[0-9]{1,15})(?:[.]0*)?)$'
      THEN CAST(CASE
        WHEN REPLACE(
          REPLACE(REPLACE(REPLACE(REPLACE("t1"."`plain 0`", ' ', ''), ' ', ''), ' ', ''), ' ', ''),
          '+',
          ''
        ) ~ (
          '(' || '^(-?[0-9]+)[.]?0*$' || ')'
        )
        THEN (
          REGEXP_MATCH(
            REPLACE(
              REPLACE(REPLACE(REPLACE(REPLACE("t1"."`plain 0`", ' ', ''), ' ', ''), ' ', ''), ' ', ''),
              '+',
              ''
            ),
            '(' || '^(-?[0-9]+)[.]?0*$' || ')'
          )
        )[2]
        ELSE NULL
      END AS BIGINT)
      ELSE CAST(NULL AS BIGINT)
    END
  END AS "c"
FROM (
  SELECT
    "t0"."c",
    TRIM('' || ' ' || CHR(  9) || CHR(  10) || CHR(  13) || CHR(  11) || CHR(  12) FROM TEXTIN(TEXTOUT(CAST("t0"."c" AS VARCHAR)))) AS "`plain 0`"
  FROM "records" AS "t0"
) AS "t1"
