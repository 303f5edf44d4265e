SELECT
  CASE
    WHEN TRIM('' || ' ' || CHR(  9) || CHR(  10) || CHR(  13) || CHR(  11) || CHR(  12) FROM TEXTIN(TEXTOUT(CAST("t1"."c" AS VARCHAR)))) IN ('-')
    THEN CAST(NULL AS TIMESTAMP(6))
    ELSE COALESCE(
      CASE
        WHEN "t1"."`plain 0`" ~ '^(?:(?:0?[1-9]|1[0-9]|2[0-8])[.](?:0?2)[.](?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})|(?:29)[.](?:0?2)[.](?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)|(?:0?[1-9]|[12][0-9]|30)[.](?:0?4|0?6|0?9|11)[.](?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})|(?:0?[1-9]|[12][0-9]|3[01])[.](?:0?1|0?3|0?5|0?7|0?8|10|12)[.](?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3}))$'
        THEN CAST('1970-01-01 00:00:00' AS TIMESTAMP(6)) + MAKE_INTERVAL(
          0,
          0,
          0,
          0,
          0,
          0,
          CAST((
            (
              (
                CAST(EXTRACT(epoch FROM CAST(MAKE_DATE(
                  CAST(COALESCE(
                    CAST(CASE
                      WHEN "t1"."`plain 0`" ~ (
                        '(' || '^(?:0?[1-9]|[12][0-9]|3[01])[.](?:0?1|0?2|0?3|0?4|0?5|0?6|0?7|0?8|0?9|10|11|12)[.](000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})$' || ')'
                      )
                      THEN (
                        REGEXP_MATCH(
                          "t1"."`plain 0`",
                          '(' || '^(?:0?[1-9]|[12][0-9]|3[01])[.](?:0?1|0?2|0?3|0?4|0?5|0?6|0?7|0?8|0?9|10|11|12)[.](000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})$' || ')'
                        )
                      )[2]
                      ELSE NULL
                    END AS BIGINT),
                    1970
                  ) AS INT),
                  CAST(COALESCE(
                    CAST(CASE
                      WHEN "t1"."`plain 0`" ~ (
                        '(' || '^(?:0?[1-9]|[12][0-9]|3[01])[.](0?1|0?2|0?3|0?4|0?5|0?6|0?7|0?8|0?9|10|11|12)[.](?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})$' || ')'
                      )
                      THEN (
                        REGEXP_MATCH(
                          "t1"."`plain 0`",
                          '(' || '^(?:0?[1-9]|[12][0-9]|3[01])[.](0?1|0?2|0?3|0?4|0?5|0?6|0?7|0?8|0?9|10|11|12)[.](?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})$' || ')'
                        )
                      )[2]
                      ELSE NULL
                    END AS BIGINT),
                    1
                  ) AS INT),
                  CAST(1 AS INT)
                ) AS TIMESTAMP) - CAST(CAST('1970-01-01' AS DATE) AS TIMESTAMP)) / 86400 AS BIGINT) + COALESCE(
                  CAST(CASE
                    WHEN "t1"."`plain 0`" ~ (
                      '(' || '^(0?[1-9]|[12][0-9]|3[01])[.](?:0?1|0?2|0?3|0?4|0?5|0?6|0?7|0?8|0?9|10|11|12)[.](?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})$' || ')'
                    )
                    THEN (
                      REGEXP_MATCH(
                        "t1"."`plain 0`",
                        '(' || '^(0?[1-9]|[12][0-9]|3[01])[.](?:0?1|0?2|0?3|0?4|0?5|0?6|0?7|0?8|0?9|10|11|12)[.](?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})$' || ')'
                      )
                    )[2]
                    ELSE NULL
                  END AS BIGINT),
                  1
                )
              ) - 1
            ) * 86400
          ) + (
            0 * 3600
          ) + (
            0 * 60
          ) + 0 AS DOUBLE PRECISION)
        ) + MAKE_INTERVAL(0, 0, 0, 0, 0, 0, CAST(0 AS DOUBLE PRECISION) / 1000000.0)
        ELSE CAST(NULL AS TIMESTAMP(6))
      END,
      CASE
        WHEN "t1"."`plain 0`" ~ '^(?:(?:feb) (?:0?[1-9]|1[0-9]|2[0-8]), (?:[0-9]{2}) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm)|(?:feb) (?:29), (?:00|0[48]|[2468][048]|[13579][26]) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm)|(?:apr|jun|sep|nov) (?:0?[1-9]|[12][0-9]|30), (?:[0-9]{2}) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm)|(?:jan|mar|may|jul|aug|oct|dec) (?:0?[1-9]|[12][0-9]|3[01]), (?:[0-9]{2}) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm))$'
        THEN CAST('1970-01-01 00:00:00' AS TIMESTAMP(6)) + MAKE_INTERVAL(
          0,
          0,
          0,
          0,
          0,
          0,
          CAST((
            (
              (
                CAST(EXTRACT(epoch FROM CAST(MAKE_DATE(
                  CAST(COALESCE(
                    CAST(CASE
                      WHEN "t1"."`plain 0`" ~ (
                        '(' || '^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (?:0?[1-9]|[12][0-9]|3[01]), ([0-9]{2}) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm)$' || ')'
                      )
                      THEN (
                        REGEXP_MATCH(
                          "t1"."`plain 0`",
                          '(' || '^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (?:0?[1-9]|[12][0-9]|3[01]), ([0-9]{2}) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm)$' || ')'
                        )
                      )[2]
                      ELSE NULL
                    END AS BIGINT),
                    0
                  ) + CASE
                    WHEN COALESCE(
                      CAST(CASE
                        WHEN "t1"."`plain 0`" ~ (
                          '(' || '^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (?:0?[1-9]|[12][0-9]|3[01]), ([0-9]{2}) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm)$' || ')'
                        )
                        THEN (
                          REGEXP_MATCH(
                            "t1"."`plain 0`",
                            '(' || '^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (?:0?[1-9]|[12][0-9]|3[01]), ([0-9]{2}) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm)$' || ')'
                          )
                        )[2]
                        ELSE NULL
                      END AS BIGINT),
                      0
                    ) < 69
                    THEN 2000
                    ELSE 1900
                  END AS INT),
                  CAST(CAST(COALESCE(
                    CAST((
                      POSITION(
                        SUBSTRING(CASE
                          WHEN "t1"."`plain 0`" ~ (
                            '(' || '^(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (?:0?[1-9]|[12][0-9]|3[01]), (?:[0-9]{2}) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm)$' || ')'
                          )
                          THEN (
                            REGEXP_MATCH(
                              "t1"."`plain 0`",
                              '(' || '^(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (?:0?[1-9]|[12][0-9]|3[01]), (?:[0-9]{2}) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm)$' || ')'
                            )
                          )[2]
                          ELSE NULL
                        END FROM CASE
                          WHEN (
                            0 + 1
                          ) >= 1
                          THEN 0 + 1
                          ELSE 0 + 1 + LENGTH(
                            CASE
                              WHEN "t1"."`plain 0`" ~ (
                                '(' || '^(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (?:0?[1-9]|[12][0-9]|3[01]), (?:[0-9]{2}) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm)$' || ')'
                              )
                              THEN (
                                REGEXP_MATCH(
                                  "t1"."`plain 0`",
                                  '(' || '^(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (?:0?[1-9]|[12][0-9]|3[01]), (?:[0-9]{2}) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm)$' || ')'
                                )
                              )[2]
                              ELSE NULL
                            END
                          )
                        END FOR 3) IN 'jan feb mar apr may jun jul aug sep oct nov dec'
                      ) - 1
                    ) AS DOUBLE PRECISION) / 4,
                    0.0
                  ) AS BIGINT) + 1 AS INT),
                  CAST(1 AS INT)
                ) AS TIMESTAMP) - CAST(CAST('1970-01-01' AS DATE) AS TIMESTAMP)) / 86400 AS BIGINT) + COALESCE(
                  CAST(CASE
                    WHEN "t1"."`plain 0`" ~ (
                      '(' || '^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (0?[1-9]|[12][0-9]|3[01]), (?:[0-9]{2}) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm)$' || ')'
                    )
                    THEN (
                      REGEXP_MATCH(
                        "t1"."`plain 0`",
                        '(' || '^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (0?[1-9]|[12][0-9]|3[01]), (?:[0-9]{2}) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm)$' || ')'
                      )
                    )[2]
                    ELSE NULL
                  END AS BIGINT),
                  1
                )
              ) - 1
            ) * 86400
          ) + (
            (
              (
                COALESCE(
                  CAST(CASE
                    WHEN "t1"."`plain 0`" ~ (
                      '(' || '^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (?:0?[1-9]|[12][0-9]|3[01]), (?:[0-9]{2}) (0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm)$' || ')'
                    )
                    THEN (
                      REGEXP_MATCH(
                        "t1"."`plain 0`",
                        '(' || '^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (?:0?[1-9]|[12][0-9]|3[01]), (?:[0-9]{2}) (0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm)$' || ')'
                      )
                    )[2]
                    ELSE NULL
                  END AS BIGINT),
                  0
                ) % 12
              ) + CASE
                WHEN CASE
                  WHEN "t1"."`plain 0`" ~ (
                    '(' || '^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (?:0?[1-9]|[12][0-9]|3[01]), (?:[0-9]{2}) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (am|pm)$' || ')'
                  )
                  THEN (
                    REGEXP_MATCH(
                      "t1"."`plain 0`",
                      '(' || '^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (?:0?[1-9]|[12][0-9]|3[01]), (?:[0-9]{2}) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (am|pm)$' || ')'
                    )
                  )[2]
                  ELSE NULL
                END = 'pm'
                THEN 12
                ELSE 0
              END
            ) * 3600
          ) + (
            COALESCE(
              CAST(CASE
                WHEN "t1"."`plain 0`" ~ (
                  '(' || '^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (?:0?[1-9]|[12][0-9]|3[01]), (?:[0-9]{2}) (?:0?[1-9]|1[0-2]):([0-5]?[0-9]) (?:am|pm)$' || ')'
                )
                THEN (
                  REGEXP_MATCH(
                    "t1"."`plain 0`",
                    '(' || '^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (?:0?[1-9]|[12][0-9]|3[01]), (?:[0-9]{2}) (?:0?[1-9]|1[0-2]):([0-5]?[0-9]) (?:am|pm)$' || ')'
                  )
                )[2]
                ELSE NULL
              END AS BIGINT),
              0
            ) * 60
          ) + 0 AS DOUBLE PRECISION)
        ) + MAKE_INTERVAL(0, 0, 0, 0, 0, 0, CAST(0 AS DOUBLE PRECISION) / 1000000.0)
        ELSE CAST(NULL AS TIMESTAMP(6))
      END
    )
  END AS "c"
FROM (
  SELECT
    "t0"."c",
    TRANSLATE(
      TRIM('' || ' ' || CHR(  9) || CHR(  10) || CHR(  13) || CHR(  11) || CHR(  12) FROM TEXTIN(TEXTOUT(CAST("t0"."c" AS VARCHAR)))),
      'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
      'abcdefghijklmnopqrstuvwxyz'
    ) AS "`plain 0`"
  FROM "records" AS "t0"
) AS "t1"
