SELECT
  CASE
    WHEN NULLIF(
      TRIM('' || ' ' || CHR(  9) || CHR(  10) || CHR(  13) || CHR(  11) || CHR(  12) FROM TEXTIN(TEXTOUT(CAST("t0"."c" AS VARCHAR)))),
      '9'
    ) ~ '^[+-]?(?:(?:[0-9]{1,3}(?:[    ][0-9]{3}){1,4}|[0-9]{1,15})(?:[.]0*)?)$'
    THEN CAST(CASE
      WHEN REPLACE(
        REPLACE(
          REPLACE(
            REPLACE(
              REPLACE(
                NULLIF(
                  TRIM('' || ' ' || CHR(  9) || CHR(  10) || CHR(  13) || CHR(  11) || CHR(  12) FROM TEXTIN(TEXTOUT(CAST("t0"."c" AS VARCHAR)))),
                  '9'
                ),
                ' ',
                ''
              ),
              ' ',
              ''
            ),
            ' ',
            ''
          ),
          ' ',
          ''
        ),
        '+',
        ''
      ) ~ (
        '(' || '^(-?[0-9]+)[.]?0*$' || ')'
      )
      THEN (
        REGEXP_MATCH(
          REPLACE(
            REPLACE(
              REPLACE(
                REPLACE(
                  REPLACE(
                    NULLIF(
                      TRIM('' || ' ' || CHR(  9) || CHR(  10) || CHR(  13) || CHR(  11) || CHR(  12) FROM TEXTIN(TEXTOUT(CAST("t0"."c" AS VARCHAR)))),
                      '9'
                    ),
                    ' ',
                    ''
                  ),
                  ' ',
                  ''
                ),
                ' ',
                ''
              ),
              ' ',
              ''
            ),
            '+',
            ''
          ),
          '(' || '^(-?[0-9]+)[.]?0*$' || ')'
        )
      )[2]
      ELSE NULL
    END AS BIGINT)
    ELSE CAST(NULL AS BIGINT)
  END AS "c"
FROM "records" AS "t0"
