SELECT
  CASE
    WHEN REGEXP_MATCHES(
      NULLIF(
        TRANSLATE(
          TRIM(
            TRY(DECODE(ENCODE(CAST("t0"."c" AS TEXT)))),
            '' || ' ' || CHR(9) || CHR(10) || CHR(13) || CHR(11) || CHR(12)
          ),
          'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
          'abcdefghijklmnopqrstuvwxyz'
        ),
        '-'
      ),
      '^(?:([+-]?)(?:eur|€)[    ]?|(?:eur|€)[    ]?([+-])|([+-]?))([0-9]{1,8}(?:[,][0-9]{0,20})?[eE][+-]?[12]?[0-9]{1,2}|(?:[0-9]{1,3}(?:[.][0-9]{3}){1,65}|[0-9]{1,200})(?:[,][0-9]{0,200})?|[,][0-9]{1,200})[    ]?(?:eur|€)?$'
    )
    THEN COALESCE(
      NULLIF(
        TRY_CAST(REPLACE(
          REPLACE(
            REPLACE(
              COALESCE(
                REGEXP_EXTRACT(
                  NULLIF(
                    TRANSLATE(
                      TRIM(
                        TRY(DECODE(ENCODE(CAST("t0"."c" AS TEXT)))),
                        '' || ' ' || CHR(9) || CHR(10) || CHR(13) || CHR(11) || CHR(12)
                      ),
                      'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
                      'abcdefghijklmnopqrstuvwxyz'
                    ),
                    '-'
                  ),
                  '^(?:([+-]?)(?:eur|€)[    ]?|(?:eur|€)[    ]?([+-])|([+-]?))([0-9]{1,8}(?:[,][0-9]{0,20})?[eE][+-]?[12]?[0-9]{1,2}|(?:[0-9]{1,3}(?:[.][0-9]{3}){1,65}|[0-9]{1,200})(?:[,][0-9]{0,200})?|[,][0-9]{1,200})[    ]?(?:eur|€)?$',
                  1
                ),
                ''
              ) || COALESCE(
                REGEXP_EXTRACT(
                  NULLIF(
                    TRANSLATE(
                      TRIM(
                        TRY(DECODE(ENCODE(CAST("t0"."c" AS TEXT)))),
                        '' || ' ' || CHR(9) || CHR(10) || CHR(13) || CHR(11) || CHR(12)
                      ),
                      'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
                      'abcdefghijklmnopqrstuvwxyz'
                    ),
                    '-'
                  ),
                  '^(?:([+-]?)(?:eur|€)[    ]?|(?:eur|€)[    ]?([+-])|([+-]?))([0-9]{1,8}(?:[,][0-9]{0,20})?[eE][+-]?[12]?[0-9]{1,2}|(?:[0-9]{1,3}(?:[.][0-9]{3}){1,65}|[0-9]{1,200})(?:[,][0-9]{0,200})?|[,][0-9]{1,200})[    ]?(?:eur|€)?$',
                  2
                ),
                ''
              ) || COALESCE(
                REGEXP_EXTRACT(
                  NULLIF(
                    TRANSLATE(
                      TRIM(
                        TRY(DECODE(ENCODE(CAST("t0"."c" AS TEXT)))),
                        '' || ' ' || CHR(9) || CHR(10) || CHR(13) || CHR(11) || CHR(12)
                      ),
                      'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
                      'abcdefghijklmnopqrstuvwxyz'
                    ),
                    '-'
                  ),
                  '^(?:([+-]?)(?:eur|€)[    ]?|(?:eur|€)[    ]?([+-])|([+-]?))([0-9]{1,8}(?:[,][0-9]{0,20})?[eE][+-]?[12]?[0-9]{1,2}|(?:[0-9]{1,3}(?:[.][0-9]{3}){1,65}|[0-9]{1,200})(?:[,][0-9]{0,200})?|[,][0-9]{1,200})[    ]?(?:eur|€)?$',
                  3
                ),
                ''
              ) || COALESCE(
                REGEXP_EXTRACT(
                  NULLIF(
                    TRANSLATE(
                      TRIM(
                        TRY(DECODE(ENCODE(CAST("t0"."c" AS TEXT)))),
                        '' || ' ' || CHR(9) || CHR(10) || CHR(13) || CHR(11) || CHR(12)
                      ),
                      'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
                      'abcdefghijklmnopqrstuvwxyz'
                    ),
                    '-'
                  ),
                  '^(?:([+-]?)(?:eur|€)[    ]?|(?:eur|€)[    ]?([+-])|([+-]?))([0-9]{1,8}(?:[,][0-9]{0,20})?[eE][+-]?[12]?[0-9]{1,2}|(?:[0-9]{1,3}(?:[.][0-9]{3}){1,65}|[0-9]{1,200})(?:[,][0-9]{0,200})?|[,][0-9]{1,200})[    ]?(?:eur|€)?$',
                  4
                ),
                ''
              ),
              '.',
              ''
            ),
            '+',
            ''
          ),
          ',',
          '.'
        ) AS DOUBLE),
        0.0
      ),
      0.0
    )
    ELSE CAST(NULL AS DOUBLE)
  END AS "c"
FROM "records" AS "t0"
