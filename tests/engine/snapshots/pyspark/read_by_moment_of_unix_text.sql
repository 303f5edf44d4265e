SELECT
  COALESCE(
    CAST(TIMESTAMP_MICROS(
      (
        (
          CAST((
            CAST(CASE
              WHEN `t1`.```plain 0``` RLIKE '^(?:-[0-9]{1,13}|[+]?[0-9]{1,14})(?:[.][0-9]{0,20})?\\z'
              THEN CAST(IF(STARTSWITH(`t1`.```plain 0```, '-'), -1, 1) AS BIGINT) * (
                (
                  CAST(COALESCE(
                    TRY_CAST(SUBSTRING(
                      REGEXP_EXTRACT(`t1`.```plain 0```, '^([+-]?)([0-9]+)[.]?([0-9]*)\\z', 2),
                      IF(
                        (
                          0 + 1
                        ) >= 1,
                        0 + 1,
                        0 + 1 + LENGTH(REGEXP_EXTRACT(`t1`.```plain 0```, '^([+-]?)([0-9]+)[.]?([0-9]*)\\z', 2))
                      ),
                      14
                    ) AS BIGINT),
                    0
                  ) AS BIGINT) * 1000
                ) + COALESCE(
                  TRY_CAST(SUBSTRING(
                    CONCAT(
                      COALESCE(REGEXP_EXTRACT(`t1`.```plain 0```, '^([+-]?)([0-9]+)[.]?([0-9]*)\\z', 3), ''),
                      '000'
                    ),
                    IF(
                      (
                        0 + 1
                      ) >= 1,
                      0 + 1,
                      0 + 1 + LENGTH(
                        CONCAT(
                          COALESCE(REGEXP_EXTRACT(`t1`.```plain 0```, '^([+-]?)([0-9]+)[.]?([0-9]*)\\z', 3), ''),
                          '000'
                        )
                      )
                    ),
                    3
                  ) AS BIGINT),
                  0
                )
              )
              ELSE CAST(NULL AS BIGINT)
            END AS BIGINT) - (
              (
                CAST(CASE
                  WHEN `t1`.```plain 0``` RLIKE '^(?:-[0-9]{1,13}|[+]?[0-9]{1,14})(?:[.][0-9]{0,20})?\\z'
                  THEN CAST(IF(STARTSWITH(`t1`.```plain 0```, '-'), -1, 1) AS BIGINT) * (
                    (
                      CAST(COALESCE(
                        TRY_CAST(SUBSTRING(
                          REGEXP_EXTRACT(`t1`.```plain 0```, '^([+-]?)([0-9]+)[.]?([0-9]*)\\z', 2),
                          IF(
                            (
                              0 + 1
                            ) >= 1,
                            0 + 1,
                            0 + 1 + LENGTH(REGEXP_EXTRACT(`t1`.```plain 0```, '^([+-]?)([0-9]+)[.]?([0-9]*)\\z', 2))
                          ),
                          14
                        ) AS BIGINT),
                        0
                      ) AS BIGINT) * 1000
                    ) + COALESCE(
                      TRY_CAST(SUBSTRING(
                        CONCAT(
                          COALESCE(REGEXP_EXTRACT(`t1`.```plain 0```, '^([+-]?)([0-9]+)[.]?([0-9]*)\\z', 3), ''),
                          '000'
                        ),
                        IF(
                          (
                            0 + 1
                          ) >= 1,
                          0 + 1,
                          0 + 1 + LENGTH(
                            CONCAT(
                              COALESCE(REGEXP_EXTRACT(`t1`.```plain 0```, '^([+-]?)([0-9]+)[.]?([0-9]*)\\z', 3), ''),
                              '000'
                            )
                          )
                        ),
                        3
                      ) AS BIGINT),
                      0
                    )
                  )
                  ELSE CAST(NULL AS BIGINT)
                END % 1000000 AS BIGINT) + 1000000
              ) % 1000000
            )
          ) / 1000000 AS BIGINT) + 0
        ) * 1000000
      ) + (
        (
          CAST(CASE
            WHEN `t1`.```plain 0``` RLIKE '^(?:-[0-9]{1,13}|[+]?[0-9]{1,14})(?:[.][0-9]{0,20})?\\z'
            THEN CAST(IF(STARTSWITH(`t1`.```plain 0```, '-'), -1, 1) AS BIGINT) * (
              (
                CAST(COALESCE(
                  TRY_CAST(SUBSTRING(
                    REGEXP_EXTRACT(`t1`.```plain 0```, '^([+-]?)([0-9]+)[.]?([0-9]*)\\z', 2),
                    IF(
                      (
                        0 + 1
                      ) >= 1,
                      0 + 1,
                      0 + 1 + LENGTH(REGEXP_EXTRACT(`t1`.```plain 0```, '^([+-]?)([0-9]+)[.]?([0-9]*)\\z', 2))
                    ),
                    14
                  ) AS BIGINT),
                  0
                ) AS BIGINT) * 1000
              ) + COALESCE(
                TRY_CAST(SUBSTRING(
                  CONCAT(
                    COALESCE(REGEXP_EXTRACT(`t1`.```plain 0```, '^([+-]?)([0-9]+)[.]?([0-9]*)\\z', 3), ''),
                    '000'
                  ),
                  IF(
                    (
                      0 + 1
                    ) >= 1,
                    0 + 1,
                    0 + 1 + LENGTH(
                      CONCAT(
                        COALESCE(REGEXP_EXTRACT(`t1`.```plain 0```, '^([+-]?)([0-9]+)[.]?([0-9]*)\\z', 3), ''),
                        '000'
                      )
                    )
                  ),
                  3
                ) AS BIGINT),
                0
              )
            )
            ELSE CAST(NULL AS BIGINT)
          END % 1000000 AS BIGINT) + 1000000
        ) % 1000000
      )
    ) AS TIMESTAMP_NTZ),
    CASE
      WHEN `t1`.```plain 0``` RLIKE '^(?:(?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3}))\\z'
      THEN CAST(TIMESTAMP_MICROS(
        (
          (
            (
              (
                (
                  CAST(CAST(DATEDIFF(
                    MAKE_DATE(
                      CAST(COALESCE(
                        TRY_CAST(REGEXP_EXTRACT(`t1`.```plain 0```, '^(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})\\z', 1) AS BIGINT),
                        1970
                      ) AS INT),
                      CAST(1 AS INT),
                      CAST(1 AS INT)
                    ),
                    CAST('1970-01-01' AS DATE)
                  ) AS BIGINT) AS BIGINT) + 1
                ) - 1
              ) * 86400
            ) + (
              CAST(0 AS BIGINT) * 3600
            ) + (
              CAST(0 AS BIGINT) * 60
            ) + 0
          ) * 1000000
        ) + 0
      ) AS TIMESTAMP_NTZ)
      ELSE CAST(NULL AS TIMESTAMP_NTZ)
    END
  ) AS `c`
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
