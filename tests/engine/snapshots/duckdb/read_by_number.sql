SELECT
  CASE
    WHEN "t1"."`plain 0`" IN ('-')
    THEN CAST(NULL AS DOUBLE)
    ELSE CASE
      WHEN REGEXP_MATCHES(
        "t1"."`plain 0`",
        '^(?:([+-]?)(?:eur|€)[    ]?|(?:eur|€)[    ]?([+-])|([+-]?))([0-9]{1,8}(?:[,][0-9]{0,20})?[eE][+-]?[12]?[0-9]{1,2}|(?:[0-9]{1,3}(?:[.][0-9]{3})+|[0-9]+)(?:[,][0-9]*)?|[,][0-9]+)[    ]?(?:eur|€)?$'
      )
      AND (
        LENGTH("t1"."`plain 0`") <= 300
      )
      THEN COALESCE(
        NULLIF(
          TRY_CAST(REPLACE(
            REPLACE(
              REPLACE(
                REGEXP_REPLACE(
                  "t1"."`plain 0`",
                  '^(?:([+-]?)(?:eur|€)[    ]?|(?:eur|€)[    ]?([+-])|([+-]?))([0-9]{1,8}(?:[,][0-9]{0,20})?[eE][+-]?[12]?[0-9]{1,2}|(?:[0-9]{1,3}(?:[.][0-9]{3})+|[0-9]+)(?:[,][0-9]*)?|[,][0-9]+)[    ]?(?:eur|€)?$',
                  '\1\2\3\4',
                  'g'
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
    END
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
