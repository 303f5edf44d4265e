SELECT
  CASE
    WHEN TRIM(
      TRY(DECODE(ENCODE(CAST("t1"."c" AS TEXT)))),
      '' || ' ' || CHR(9) || CHR(10) || CHR(13) || CHR(11) || CHR(12)
    ) IN ('-')
    THEN CAST(NULL AS TIMESTAMP(6))
    ELSE COALESCE(
      CASE
        WHEN REGEXP_MATCHES(
          "t1"."`plain 0`",
          '^(?:(?:0?[1-9]|1[0-9]|2[0-8])[.](?:0?2)[.](?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})|(?:29)[.](?:0?2)[.](?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)|(?:0?[1-9]|[12][0-9]|30)[.](?:0?4|0?6|0?9|11)[.](?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})|(?:0?[1-9]|[12][0-9]|3[01])[.](?:0?1|0?3|0?5|0?7|0?8|10|12)[.](?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3}))$'
        )
        THEN MAKE_TIMESTAMP(
          (
            (
              (
                (
                  (
                    DATE_DIFF(
                      'DAY',
                      CAST('1970-01-01' AS DATE),
                      MAKE_DATE(
                        COALESCE(
                          TRY_CAST(REGEXP_EXTRACT(
                            "t1"."`plain 0`",
                            '^(?:0?[1-9]|[12][0-9]|3[01])[.](?:0?1|0?2|0?3|0?4|0?5|0?6|0?7|0?8|0?9|10|11|12)[.](000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})$',
                            1
                          ) AS BIGINT),
                          1970
                        ),
                        COALESCE(
                          TRY_CAST(REGEXP_EXTRACT(
                            "t1"."`plain 0`",
                            '^(?:0?[1-9]|[12][0-9]|3[01])[.](0?1|0?2|0?3|0?4|0?5|0?6|0?7|0?8|0?9|10|11|12)[.](?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})$',
                            1
                          ) AS BIGINT),
                          1
                        ),
                        1
                      )
                    ) + COALESCE(
                      TRY_CAST(REGEXP_EXTRACT(
                        "t1"."`plain 0`",
                        '^(0?[1-9]|[12][0-9]|3[01])[.](?:0?1|0?2|0?3|0?4|0?5|0?6|0?7|0?8|0?9|10|11|12)[.](?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})$',
                        1
                      ) AS BIGINT),
                      1
                    )
                  ) - 1
                ) * 86400
              ) + (
                0 * 3600
              ) + (
                0 * 60
              ) + 0
            ) * 1000000
          ) + 0
        )
        ELSE CAST(NULL AS TIMESTAMP(6))
      END,
      CASE
        WHEN REGEXP_MATCHES(
          "t1"."`plain 0`",
          '^(?:(?:feb) (?:0?[1-9]|1[0-9]|2[0-8]), (?:[0-9]{2}) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm)|(?:feb) (?:29), (?:00|0[48]|[2468][048]|[13579][26]) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm)|(?:apr|jun|sep|nov) (?:0?[1-9]|[12][0-9]|30), (?:[0-9]{2}) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm)|(?:jan|mar|may|jul|aug|oct|dec) (?:0?[1-9]|[12][0-9]|3[01]), (?:[0-9]{2}) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm))$'
        )
        THEN MAKE_TIMESTAMP(
          (
            (
              (
                (
                  (
                    DATE_DIFF(
                      'DAY',
                      CAST('1970-01-01' AS DATE),
                      MAKE_DATE(
                        COALESCE(
                          TRY_CAST(REGEXP_EXTRACT(
                            "t1"."`plain 0`",
                            '^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (?:0?[1-9]|[12][0-9]|3[01]), ([0-9]{2}) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm)$',
                            1
                          ) AS BIGINT),
                          0
                        ) + CASE
                          WHEN COALESCE(
                            TRY_CAST(REGEXP_EXTRACT(
                              "t1"."`plain 0`",
                              '^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (?:0?[1-9]|[12][0-9]|3[01]), ([0-9]{2}) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm)$',
                              1
                            ) AS BIGINT),
                            0
                          ) < 69
                          THEN 2000
                          ELSE 1900
                        END,
                        CAST(COALESCE(
                          (
                            STRPOS(
                              'jan feb mar apr may jun jul aug sep oct nov dec',
                              SUBSTRING(
                                REGEXP_EXTRACT(
                                  "t1"."`plain 0`",
                                  '^(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (?:0?[1-9]|[12][0-9]|3[01]), (?:[0-9]{2}) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm)$',
                                  1
                                ),
                                CASE
                                  WHEN (
                                    0 + 1
                                  ) >= 1
                                  THEN 0 + 1
                                  ELSE 0 + 1 + LENGTH(
                                    REGEXP_EXTRACT(
                                      "t1"."`plain 0`",
                                      '^(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (?:0?[1-9]|[12][0-9]|3[01]), (?:[0-9]{2}) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm)$',
                                      1
                                    )
                                  )
                                END,
                                3
                              )
                            ) - 1
                          ) / 4,
                          0.0
                        ) AS BIGINT) + 1,
                        1
                      )
                    ) + COALESCE(
                      TRY_CAST(REGEXP_EXTRACT(
                        "t1"."`plain 0`",
                        '^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (0?[1-9]|[12][0-9]|3[01]), (?:[0-9]{2}) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm)$',
                        1
                      ) AS BIGINT),
                      1
                    )
                  ) - 1
                ) * 86400
              ) + (
                (
                  (
                    COALESCE(
                      TRY_CAST(REGEXP_EXTRACT(
                        "t1"."`plain 0`",
                        '^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (?:0?[1-9]|[12][0-9]|3[01]), (?:[0-9]{2}) (0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (?:am|pm)$',
                        1
                      ) AS BIGINT),
                      0
                    ) % 12
                  ) + CASE
                    WHEN REGEXP_EXTRACT(
                      "t1"."`plain 0`",
                      '^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (?:0?[1-9]|[12][0-9]|3[01]), (?:[0-9]{2}) (?:0?[1-9]|1[0-2]):(?:[0-5]?[0-9]) (am|pm)$',
                      1
                    ) = 'pm'
                    THEN 12
                    ELSE 0
                  END
                ) * 3600
              ) + (
                COALESCE(
                  TRY_CAST(REGEXP_EXTRACT(
                    "t1"."`plain 0`",
                    '^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) (?:0?[1-9]|[12][0-9]|3[01]), (?:[0-9]{2}) (?:0?[1-9]|1[0-2]):([0-5]?[0-9]) (?:am|pm)$',
                    1
                  ) AS BIGINT),
                  0
                ) * 60
              ) + 0
            ) * 1000000
          ) + 0
        )
        ELSE CAST(NULL AS TIMESTAMP(6))
      END
    )
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
