SELECT
  CASE
    WHEN NULLIF(
      TRANSLATE(
        TRIM('' || ' ' || CHR(  9) || CHR(  10) || CHR(  13) || CHR(  11) || CHR(  12) FROM TEXTIN(TEXTOUT(CAST("t0"."c" AS VARCHAR)))),
        'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
        'abcdefghijklmnopqrstuvwxyz'
      ),
      '-'
    ) ~ '^(?:([+-]?)(?:eur|€)[    ]?|(?:eur|€)[    ]?([+-])|([+-]?))([0-9]{1,8}(?:[,][0-9]{0,20})?[eE][+-]?[12]?[0-9]{1,2}|(?:[0-9]{1,3}(?:[.][0-9]{3}){1,65}|[0-9]{1,200})(?:[,][0-9]{0,200})?|[,][0-9]{1,200})[    ]?(?:eur|€)?$'
    THEN COALESCE(
      NULLIF(
        CAST(REPLACE(
          REPLACE(
            REPLACE(
              COALESCE(
                CASE
                  WHEN NULLIF(
                    TRANSLATE(
                      TRIM('' || ' ' || CHR(  9) || CHR(  10) || CHR(  13) || CHR(  11) || CHR(  12) FROM TEXTIN(TEXTOUT(CAST("t0"."c" AS VARCHAR)))),
                      'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
                      'abcdefghijklmnopqrstuvwxyz'
                    ),
                    '-'
                  ) ~ (
                    '(' || '^(?:([+-]?)(?:eur|€)[    ]?|(?:eur|€)[    ]?([+-])|([+-]?))([0-9]{1,8}(?:[,][0-9]{0,20})?[eE][+-]?[12]?[0-9]{1,2}|(?:[0-9]{1,3}(?:[.][0-9]{3}){1,65}|[0-9]{1,200})(?:[,][0-9]{0,200})?|[,][0-9]{1,200})[    ]?(?:eur|€)?$' || ')'
                  )
                  THEN (
                    REGEXP_MATCH(
                      NULLIF(
                        TRANSLATE(
                          TRIM('' || ' ' || CHR(  9) || CHR(  10) || CHR(  13) || CHR(  11) || CHR(  12) FROM TEXTIN(TEXTOUT(CAST("t0"."c" AS VARCHAR)))),
                          'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
                          'abcdefghijklmnopqrstuvwxyz'
                        ),
                        '-'
                      ),
                      '(' || '^(?:([+-]?)(?:eur|€)[    ]?|(?:eur|€)[    ]?([+-])|([+-]?))([0-9]{1,8}(?:[,][0-9]{0,20})?[eE][+-]?[12]?[0-9]{1,2}|(?:[0-9]{1,3}(?:[.][0-9]{3}){1,65}|[0-9]{1,200})(?:[,][0-9]{0,200})?|[,][0-9]{1,200})[    ]?(?:eur|€)?$' || ')'
                    )
                  )[2]
                  ELSE NULL
                END,
                ''
              ) || COALESCE(
                CASE
                  WHEN NULLIF(
                    TRANSLATE(
                      TRIM('' || ' ' || CHR(  9) || CHR(  10) || CHR(  13) || CHR(  11) || CHR(  12) FROM TEXTIN(TEXTOUT(CAST("t0"."c" AS VARCHAR)))),
                      'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
                      'abcdefghijklmnopqrstuvwxyz'
                    ),
                    '-'
                  ) ~ (
                    '(' || '^(?:([+-]?)(?:eur|€)[    ]?|(?:eur|€)[    ]?([+-])|([+-]?))([0-9]{1,8}(?:[,][0-9]{0,20})?[eE][+-]?[12]?[0-9]{1,2}|(?:[0-9]{1,3}(?:[.][0-9]{3}){1,65}|[0-9]{1,200})(?:[,][0-9]{0,200})?|[,][0-9]{1,200})[    ]?(?:eur|€)?$' || ')'
                  )
                  THEN (
                    REGEXP_MATCH(
                      NULLIF(
                        TRANSLATE(
                          TRIM('' || ' ' || CHR(  9) || CHR(  10) || CHR(  13) || CHR(  11) || CHR(  12) FROM TEXTIN(TEXTOUT(CAST("t0"."c" AS VARCHAR)))),
                          'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
                          'abcdefghijklmnopqrstuvwxyz'
                        ),
                        '-'
                      ),
                      '(' || '^(?:([+-]?)(?:eur|€)[    ]?|(?:eur|€)[    ]?([+-])|([+-]?))([0-9]{1,8}(?:[,][0-9]{0,20})?[eE][+-]?[12]?[0-9]{1,2}|(?:[0-9]{1,3}(?:[.][0-9]{3}){1,65}|[0-9]{1,200})(?:[,][0-9]{0,200})?|[,][0-9]{1,200})[    ]?(?:eur|€)?$' || ')'
                    )
                  )[3]
                  ELSE NULL
                END,
                ''
              ) || COALESCE(
                CASE
                  WHEN NULLIF(
                    TRANSLATE(
                      TRIM('' || ' ' || CHR(  9) || CHR(  10) || CHR(  13) || CHR(  11) || CHR(  12) FROM TEXTIN(TEXTOUT(CAST("t0"."c" AS VARCHAR)))),
                      'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
                      'abcdefghijklmnopqrstuvwxyz'
                    ),
                    '-'
                  ) ~ (
                    '(' || '^(?:([+-]?)(?:eur|€)[    ]?|(?:eur|€)[    ]?([+-])|([+-]?))([0-9]{1,8}(?:[,][0-9]{0,20})?[eE][+-]?[12]?[0-9]{1,2}|(?:[0-9]{1,3}(?:[.][0-9]{3}){1,65}|[0-9]{1,200})(?:[,][0-9]{0,200})?|[,][0-9]{1,200})[    ]?(?:eur|€)?$' || ')'
                  )
                  THEN (
                    REGEXP_MATCH(
                      NULLIF(
                        TRANSLATE(
                          TRIM('' || ' ' || CHR(  9) || CHR(  10) || CHR(  13) || CHR(  11) || CHR(  12) FROM TEXTIN(TEXTOUT(CAST("t0"."c" AS VARCHAR)))),
                          'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
                          'abcdefghijklmnopqrstuvwxyz'
                        ),
                        '-'
                      ),
                      '(' || '^(?:([+-]?)(?:eur|€)[    ]?|(?:eur|€)[    ]?([+-])|([+-]?))([0-9]{1,8}(?:[,][0-9]{0,20})?[eE][+-]?[12]?[0-9]{1,2}|(?:[0-9]{1,3}(?:[.][0-9]{3}){1,65}|[0-9]{1,200})(?:[,][0-9]{0,200})?|[,][0-9]{1,200})[    ]?(?:eur|€)?$' || ')'
                    )
                  )[4]
                  ELSE NULL
                END,
                ''
              ) || COALESCE(
                CASE
                  WHEN NULLIF(
                    TRANSLATE(
                      TRIM('' || ' ' || CHR(  9) || CHR(  10) || CHR(  13) || CHR(  11) || CHR(  12) FROM TEXTIN(TEXTOUT(CAST("t0"."c" AS VARCHAR)))),
                      'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
                      'abcdefghijklmnopqrstuvwxyz'
                    ),
                    '-'
                  ) ~ (
                    '(' || '^(?:([+-]?)(?:eur|€)[    ]?|(?:eur|€)[    ]?([+-])|([+-]?))([0-9]{1,8}(?:[,][0-9]{0,20})?[eE][+-]?[12]?[0-9]{1,2}|(?:[0-9]{1,3}(?:[.][0-9]{3}){1,65}|[0-9]{1,200})(?:[,][0-9]{0,200})?|[,][0-9]{1,200})[    ]?(?:eur|€)?$' || ')'
                  )
                  THEN (
                    REGEXP_MATCH(
                      NULLIF(
                        TRANSLATE(
                          TRIM('' || ' ' || CHR(  9) || CHR(  10) || CHR(  13) || CHR(  11) || CHR(  12) FROM TEXTIN(TEXTOUT(CAST("t0"."c" AS VARCHAR)))),
                          'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
                          'abcdefghijklmnopqrstuvwxyz'
                        ),
                        '-'
                      ),
                      '(' || '^(?:([+-]?)(?:eur|€)[    ]?|(?:eur|€)[    ]?([+-])|([+-]?))([0-9]{1,8}(?:[,][0-9]{0,20})?[eE][+-]?[12]?[0-9]{1,2}|(?:[0-9]{1,3}(?:[.][0-9]{3}){1,65}|[0-9]{1,200})(?:[,][0-9]{0,200})?|[,][0-9]{1,200})[    ]?(?:eur|€)?$' || ')'
                    )
                  )[5]
                  ELSE NULL
                END,
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
        ) AS DOUBLE PRECISION),
        0.0
      ),
      0.0
    )
    ELSE CAST(NULL AS DOUBLE PRECISION)
  END AS "c"
FROM "records" AS "t0"
