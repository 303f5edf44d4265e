SELECT
  CASE
    WHEN TRIM(CONCAT(
      CONCAT(CONCAT(CONCAT(CONCAT(CONCAT('', ' '), CHR(  9)), CHR(  10)), CHR(  13)), CHR(  11)),
      CHR(  12)
    ) FROM TRY_VALIDATE_UTF8(CAST(CAST(CAST(`t1`.`c` AS STRING) AS BINARY) AS STRING))) IN ('-')
    THEN CAST(NULL AS TIMESTAMP_NTZ)
    ELSE COALESCE(
      CASE
        WHEN `t1`.```plain 0``` RLIKE '^(?:(?:0?[1-9]|1[0-9]|2[0-8])[.](?:0?2)[.](?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})|(?:29)[.](?:0?2)[.](?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)|(?:0?[1-9]|[12][0-9]|30)[.](?:0?4|0?6|0?9|11)[.](?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})|(?:0?[1-9]|[12][0-9]|3[01])[.](?:0?1|0?3|0?5|0?7|0?8|10|12)[.](?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3}))\\z'
        THEN CAST(TIMESTAMP_MICROS(
          (
            (
              (
                (
                  (
                    CAST(CAST(DATEDIFF(
                      MAKE_DATE(
                        CAST(COALESCE(
                          TRY_CAST(REGEXP_EXTRACT(
                            `t1`.```plain 0```,
                            '^(?:0?[1-9]|[12][0-9]|3[01])[.](?:0?1|0?2|0?3|0?4|0?5|0?6|0?7|0?8|0?9|10|11|12)[.](000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})\\z',
                            1
                          ) AS BIGINT),
                          1970
                        ) AS INT),
                        CAST(COALESCE(
                          TRY_CAST(REGEXP_EXTRACT(
                            `t1`.```plain 0```,
                            '^(?:0?[1-9]|[12][0-9]|3[01])[.](0?1|0?2|0?3|0?4|0?5|0?6|0?7|0?8|0?9|10|11|12)[.](?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})\\z',
                            1
                          ) AS BIGINT),
                          1
                        ) AS INT),
                        CAST(1 AS INT)
                      ),
                      CAST('1970-01-01' AS DATE)
                    ) AS BIGINT) AS BIGINT) + COALESCE(
                      TRY_CAST(REGEXP_EXTRACT(
                        `t1`.```plain 0```,
                        '^(0?[1-9]|[12][0-9]|3[01])[.](?:0?1|0?2|0?3|0?4|0?5|0?6|0?7|0?8|0?9|10|11|12)[.](?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})\\z',
                        1
                      ) AS BIGINT),
                      1
                    )
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
      END,
      CASE
        WHEN `t1`.```plain 0``` RLIKE '^(?:(?:feb) (?:0?[1-9]|1[0-9]|2[0-8]), (?:[0-9]{2}) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm)|(?:feb) (?:29), (?:00|0[48]|[2468][048]|[13579][26]) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm)|(?:apr|jun|sep|nov) (?:0?[1-9]|[12][0-9]|30), (?:[0-9]{2}) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm)|(?:jan|mar|may|jul|aug|oct|dec) (?:0?[1-9]|[12][0-9]|3[01]), (?:[0-9]{2}) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm))\\z'
        THEN CAST(TIMESTAMP_MICROS(
          (
            (
              (
                (
                  (
                    CAST(CAST(DATEDIFF(
                      MAKE_DATE(
                        CAST(CAST(COALESCE(
                          TRY_CAST(REGEXP_EXTRACT(
                            `t1`.```plain 0```,
                            '^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (?:0?[1-9]|[12][0-9]|3[01]), ([0-9]{2}) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm)\\z',
                            1
                          ) AS BIGINT),
                          0
                        ) AS BIGINT) + IF(
                          COALESCE(
                            TRY_CAST(REGEXP_EXTRACT(
                              `t1`.```plain 0```,
                              '^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (?:0?[1-9]|[12][0-9]|3[01]), ([0-9]{2}) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm)\\z',
                              1
                            ) AS BIGINT),
                            0
                          ) < 69,
                          2000,
                          1900
                        ) AS INT),
                        CAST(CAST(COALESCE(
                          (
                            CAST(LOCATE(
                              SUBSTRING(
                                REGEXP_EXTRACT(
                                  `t1`.```plain 0```,
                                  '^(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (?:0?[1-9]|[12][0-9]|3[01]), (?:[0-9]{2}) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm)\\z',
                                  1
                                ),
                                IF(
                                  (
                                    0 + 1
                                  ) >= 1,
                                  0 + 1,
                                  0 + 1 + LENGTH(
                                    REGEXP_EXTRACT(
                                      `t1`.```plain 0```,
                                      '^(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (?:0?[1-9]|[12][0-9]|3[01]), (?:[0-9]{2}) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm)\\z',
                                      1
                                    )
                                  )
                                ),
                                3
                              ),
                              'jan feb mar apr may jun jul aug sep oct nov dec'
                            ) AS BIGINT) - 1
                          ) / 4,
                          CAST('0.0' AS DOUBLE)
                        ) AS BIGINT) + 1 AS INT),
                        CAST(1 AS INT)
                      ),
                      CAST('1970-01-01' AS DATE)
                    ) AS BIGINT) AS BIGINT) + COALESCE(
                      TRY_CAST(REGEXP_EXTRACT(
                        `t1`.```plain 0```,
                        '^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (0?[1-9]|[12][0-9]|3[01]), (?:[0-9]{2}) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm)\\z',
                        1
                      ) AS BIGINT),
                      1
                    )
                  ) - 1
                ) * 86400
              ) + (
                (
                  CAST(COALESCE(
                    TRY_CAST(REGEXP_EXTRACT(
                      `t1`.```plain 0```,
                      '^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (?:0?[1-9]|[12][0-9]|3[01]), (?:[0-9]{2}) (0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm)\\z',
                      1
                    ) AS BIGINT),
                    0
                  ) % 12 AS BIGINT) + IF(
                    REGEXP_EXTRACT(
                      `t1`.```plain 0```,
                      '^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (?:0?[1-9]|[12][0-9]|3[01]), (?:[0-9]{2}) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (am|pm)\\z',
                      1
                    ) = 'pm',
                    12,
                    0
                  )
                ) * 3600
              ) + (
                CAST(COALESCE(
                  TRY_CAST(REGEXP_EXTRACT(
                    `t1`.```plain 0```,
                    '^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (?:0?[1-9]|[12][0-9]|3[01]), (?:[0-9]{2}) (?:0?[1-9]|1[0-2]):([0-5]?[0-9]) (?:am|pm)\\z',
                    1
                  ) AS BIGINT),
                  0
                ) AS BIGINT) * 60
              ) + 0
            ) * 1000000
          ) + 0
        ) AS TIMESTAMP_NTZ)
        ELSE CAST(NULL AS TIMESTAMP_NTZ)
      END
    )
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
