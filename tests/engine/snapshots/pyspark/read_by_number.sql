SELECT
  CASE
    WHEN `t1`.```plain 0``` IN ('-')
    THEN CAST(NULL AS DOUBLE)
    ELSE CASE
      WHEN `t1`.```plain 0``` RLIKE '^(?:([+-]?)(?:eur|€)[    ]?|(?:eur|€)[    ]?([+-])|([+-]?))([0-9]{1,8}(?:[,][0-9]{0,20})?[eE][+-]?[12]?[0-9]{1,2}|(?:[0-9]{1,3}(?:[.][0-9]{3})+|[0-9]+)(?:[,][0-9]*)?|[,][0-9]+)[    ]?(?:eur|€)?\\z'
      AND (
        LENGTH(`t1`.```plain 0```) <= 300
      )
      THEN COALESCE(
        NULLIF(
          TRY_CAST(REPLACE(
            REPLACE(
              REPLACE(
                REGEXP_REPLACE(
                  `t1`.```plain 0```,
                  '^(?:([+-]?)(?:eur|€)[    ]?|(?:eur|€)[    ]?([+-])|([+-]?))([0-9]{1,8}(?:[,][0-9]{0,20})?[eE][+-]?[12]?[0-9]{1,2}|(?:[0-9]{1,3}(?:[.][0-9]{3})+|[0-9]+)(?:[,][0-9]*)?|[,][0-9]+)[    ]?(?:eur|€)?\\z',
                  '$1$2$3$4'
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
          CAST('0.0' AS DOUBLE)
        ),
        CAST('0.0' AS DOUBLE)
      )
      ELSE CAST(NULL AS DOUBLE)
    END
  END AS `c`
FROM (
  SELECT
    `t0`.`c`,
    TRANSLATE(
      TRIM(CONCAT(
        CONCAT(CONCAT(CONCAT(CONCAT(CONCAT('', ' '), CHR(  9)), CHR(  10)), CHR(  13)), CHR(  11)),
        CHR(  12)
      ) FROM TRY_VALIDATE_UTF8(CAST(CAST(CAST(`t0`.`c` AS STRING) AS BINARY) AS STRING))),
      'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
      'abcdefghijklmnopqrstuvwxyz'
    ) AS ```plain 0```
  FROM `records` AS `t0`
) AS `t1`
