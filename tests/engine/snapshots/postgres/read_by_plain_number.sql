SELECT
  CASE
    WHEN TRIM('' || ' ' || CHR(  9) || CHR(  10) || CHR(  13) || CHR(  11) || CHR(  12) FROM TEXTIN(TEXTOUT(CAST("t0"."c" AS VARCHAR)))) ~ '^[+-]?(?:[0-9]{1,8}(?:[.][0-9]{0,20})?[eE][+-]?[12]?[0-9]{1,2}|[0-9]{1,200}(?:[.][0-9]{0,200})?|[.][0-9]{1,200})$'
    THEN COALESCE(
      NULLIF(
        CAST(REPLACE(
          REPLACE(
            TRIM('' || ' ' || CHR(  9) || CHR(  10) || CHR(  13) || CHR(  11) || CHR(  12) FROM TEXTIN(TEXTOUT(CAST("t0"."c" AS VARCHAR)))),
            '+',
            ''
          ),
          '.',
          '.'
        ) AS DOUBLE PRECISION),
        0.0
      ),
      0.0
    )
    ELSE CAST(NULL AS DOUBLE PRECISION)
  END AS "c"
FROM "records" AS "t0"
