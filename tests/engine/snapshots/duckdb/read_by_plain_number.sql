SELECT
  CASE
    WHEN REGEXP_MATCHES(
      TRIM(
        TRY(DECODE(ENCODE(CAST("t0"."c" AS TEXT)))),
        '' || ' ' || CHR(9) || CHR(10) || CHR(13) || CHR(11) || CHR(12)
      ),
      '^[+-]?(?:[0-9]{1,8}(?:[.][0-9]{0,20})?[eE][+-]?[12]?[0-9]{1,2}|[0-9]{1,200}(?:[.][0-9]{0,200})?|[.][0-9]{1,200})$'
    )
    THEN COALESCE(
      NULLIF(
        TRY_CAST(REPLACE(
          REPLACE(
            TRIM(
              TRY(DECODE(ENCODE(CAST("t0"."c" AS TEXT)))),
              '' || ' ' || CHR(9) || CHR(10) || CHR(13) || CHR(11) || CHR(12)
            ),
            '+',
            ''
          ),
          '.',
          '.'
        ) AS DOUBLE),
        0.0
      ),
      0.0
    )
    ELSE CAST(NULL AS DOUBLE)
  END AS "c"
FROM "records" AS "t0"
