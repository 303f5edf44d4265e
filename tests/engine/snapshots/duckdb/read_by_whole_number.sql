SELECT
  CASE
    WHEN REGEXP_MATCHES(
      NULLIF(
        TRIM(
          TRY(DECODE(ENCODE(CAST("t0"."c" AS TEXT)))),
          '' || ' ' || CHR(9) || CHR(10) || CHR(13) || CHR(11) || CHR(12)
        ),
        '9'
      ),
      '^[+-]?(?:(?:[0-9]{1,3}(?:[    ][0-9]{3}){1,4}|[0-9]{1,15})(?:[.]0*)?)$'
    )
    THEN TRY_CAST(REGEXP_EXTRACT(
      REPLACE(
        REPLACE(
          REPLACE(
            REPLACE(
              REPLACE(
                NULLIF(
                  TRIM(
                    TRY(DECODE(ENCODE(CAST("t0"."c" AS TEXT)))),
                    '' || ' ' || CHR(9) || CHR(10) || CHR(13) || CHR(11) || CHR(12)
                  ),
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
      '^(-?[0-9]+)[.]?0*$',
      1
    ) AS BIGINT)
    ELSE CAST(NULL AS BIGINT)
  END AS "c"
FROM "records" AS "t0"
