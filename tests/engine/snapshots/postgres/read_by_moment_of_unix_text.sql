SELECT
  COALESCE(
    CAST('1970-01-01 00:00:00' AS TIMESTAMP(6)) + MAKE_INTERVAL(
      0,
      0,
      0,
      0,
      0,
      0,
      CAST(CAST(CAST((
        CASE
          WHEN "t1"."`plain 0`" ~ '^(?:-[0-9]{1,13}|[+]?[0-9]{1,14})(?:[.][0-9]{0,20})?$'
          THEN CASE WHEN STARTS_WITH("t1"."`plain 0`", '-') THEN -1 ELSE 1 END * (
            (
              COALESCE(
                CAST(SUBSTRING(CASE
                  WHEN "t1"."`plain 0`" ~ (
                    '(' || '^([+-]?)([0-9]+)[.]?([0-9]*)$' || ')'
                  )
                  THEN (
                    REGEXP_MATCH("t1"."`plain 0`", '(' || '^([+-]?)([0-9]+)[.]?([0-9]*)$' || ')')
                  )[3]
                  ELSE NULL
                END FROM CASE
                  WHEN (
                    0 + 1
                  ) >= 1
                  THEN 0 + 1
                  ELSE 0 + 1 + LENGTH(
                    CASE
                      WHEN "t1"."`plain 0`" ~ (
                        '(' || '^([+-]?)([0-9]+)[.]?([0-9]*)$' || ')'
                      )
                      THEN (
                        REGEXP_MATCH("t1"."`plain 0`", '(' || '^([+-]?)([0-9]+)[.]?([0-9]*)$' || ')')
                      )[3]
                      ELSE NULL
                    END
                  )
                END FOR 14) AS BIGINT),
                0
              ) * 1000
            ) + COALESCE(
              CAST(SUBSTRING(COALESCE(
                CASE
                  WHEN "t1"."`plain 0`" ~ (
                    '(' || '^([+-]?)([0-9]+)[.]?([0-9]*)$' || ')'
                  )
                  THEN (
                    REGEXP_MATCH("t1"."`plain 0`", '(' || '^([+-]?)([0-9]+)[.]?([0-9]*)$' || ')')
                  )[4]
                  ELSE NULL
                END,
                ''
              ) || '000' FROM CASE
                WHEN (
                  0 + 1
                ) >= 1
                THEN 0 + 1
                ELSE 0 + 1 + LENGTH(
                  COALESCE(
                    CASE
                      WHEN "t1"."`plain 0`" ~ (
                        '(' || '^([+-]?)([0-9]+)[.]?([0-9]*)$' || ')'
                      )
                      THEN (
                        REGEXP_MATCH("t1"."`plain 0`", '(' || '^([+-]?)([0-9]+)[.]?([0-9]*)$' || ')')
                      )[4]
                      ELSE NULL
                    END,
                    ''
                  ) || '000'
                )
              END FOR 3) AS BIGINT),
              0
            )
          )
          ELSE CAST(NULL AS BIGINT)
        END - (
          (
            (
              CASE
                WHEN "t1"."`plain 0`" ~ '^(?:-[0-9]{1,13}|[+]?[0-9]{1,14})(?:[.][0-9]{0,20})?$'
                THEN CASE WHEN STARTS_WITH("t1"."`plain 0`", '-') THEN -1 ELSE 1 END * (
                  (
                    COALESCE(
                      CAST(SUBSTRING(CASE
                        WHEN "t1"."`plain 0`" ~ (
                          '(' || '^([+-]?)([0-9]+)[.]?([0-9]*)$' || ')'
                        )
                        THEN (
                          REGEXP_MATCH("t1"."`plain 0`", '(' || '^([+-]?)([0-9]+)[.]?([0-9]*)$' || ')')
                        )[3]
                        ELSE NULL
                      END FROM CASE
                        WHEN (
                          0 + 1
                        ) >= 1
                        THEN 0 + 1
                        ELSE 0 + 1 + LENGTH(
                          CASE
                            WHEN "t1"."`plain 0`" ~ (
                              '(' || '^([+-]?)([0-9]+)[.]?([0-9]*)$' || ')'
                            )
                            THEN (
                              REGEXP_MATCH("t1"."`plain 0`", '(' || '^([+-]?)([0-9]+)[.]?([0-9]*)$' || ')')
                            )[3]
                            ELSE NULL
                          END
                        )
                      END FOR 14) AS BIGINT),
                      0
                    ) * 1000
                  ) + COALESCE(
                    CAST(SUBSTRING(COALESCE(
                      CASE
                        WHEN "t1"."`plain 0`" ~ (
                          '(' || '^([+-]?)([0-9]+)[.]?([0-9]*)$' || ')'
                        )
                        THEN (
                          REGEXP_MATCH("t1"."`plain 0`", '(' || '^([+-]?)([0-9]+)[.]?([0-9]*)$' || ')')
                        )[4]
                        ELSE NULL
                      END,
                      ''
                    ) || '000' FROM CASE
                      WHEN (
                        0 + 1
                      ) >= 1
                      THEN 0 + 1
                      ELSE 0 + 1 + LENGTH(
                        COALESCE(
                          CASE
                            WHEN "t1"."`plain 0`" ~ (
                              '(' || '^([+-]?)([0-9]+)[.]?([0-9]*)$' || ')'
                            )
                            THEN (
                              REGEXP_MATCH("t1"."`plain 0`", '(' || '^([+-]?)([0-9]+)[.]?([0-9]*)$' || ')')
                            )[4]
                            ELSE NULL
                          END,
                          ''
                        ) || '000'
                      )
                    END FOR 3) AS BIGINT),
                    0
                  )
                )
                ELSE CAST(NULL AS BIGINT)
              END % 1000000
            ) + 1000000
          ) % 1000000
        )
      ) AS DOUBLE PRECISION) / 1000000 AS BIGINT) + 0 AS DOUBLE PRECISION)
    ) + MAKE_INTERVAL(
      0,
      0,
      0,
      0,
      0,
      0,
      CAST((
        (
          CASE
            WHEN "t1"."`plain 0`" ~ '^(?:-[0-9]{1,13}|[+]?[0-9]{1,14})(?:[.][0-9]{0,20})?$'
            THEN CASE WHEN STARTS_WITH("t1"."`plain 0`", '-') THEN -1 ELSE 1 END * (
              (
                COALESCE(
                  CAST(SUBSTRING(CASE
                    WHEN "t1"."`plain 0`" ~ (
                      '(' || '^([+-]?)([0-9]+)[.]?([0-9]*)$' || ')'
                    )
                    THEN (
                      REGEXP_MATCH("t1"."`plain 0`", '(' || '^([+-]?)([0-9]+)[.]?([0-9]*)$' || ')')
                    )[3]
                    ELSE NULL
                  END FROM CASE
                    WHEN (
                      0 + 1
                    ) >= 1
                    THEN 0 + 1
                    ELSE 0 + 1 + LENGTH(
                      CASE
                        WHEN "t1"."`plain 0`" ~ (
                          '(' || '^([+-]?)([0-9]+)[.]?([0-9]*)$' || ')'
                        )
                        THEN (
                          REGEXP_MATCH("t1"."`plain 0`", '(' || '^([+-]?)([0-9]+)[.]?([0-9]*)$' || ')')
                        )[3]
                        ELSE NULL
                      END
                    )
                  END FOR 14) AS BIGINT),
                  0
                ) * 1000
              ) + COALESCE(
                CAST(SUBSTRING(COALESCE(
                  CASE
                    WHEN "t1"."`plain 0`" ~ (
                      '(' || '^([+-]?)([0-9]+)[.]?([0-9]*)$' || ')'
                    )
                    THEN (
                      REGEXP_MATCH("t1"."`plain 0`", '(' || '^([+-]?)([0-9]+)[.]?([0-9]*)$' || ')')
                    )[4]
                    ELSE NULL
                  END,
                  ''
                ) || '000' FROM CASE
                  WHEN (
                    0 + 1
                  ) >= 1
                  THEN 0 + 1
                  ELSE 0 + 1 + LENGTH(
                    COALESCE(
                      CASE
                        WHEN "t1"."`plain 0`" ~ (
                          '(' || '^([+-]?)([0-9]+)[.]?([0-9]*)$' || ')'
                        )
                        THEN (
                          REGEXP_MATCH("t1"."`plain 0`", '(' || '^([+-]?)([0-9]+)[.]?([0-9]*)$' || ')')
                        )[4]
                        ELSE NULL
                      END,
                      ''
                    ) || '000'
                  )
                END FOR 3) AS BIGINT),
                0
              )
            )
            ELSE CAST(NULL AS BIGINT)
          END % 1000000
        ) + 1000000
      ) % 1000000 AS DOUBLE PRECISION) / 1000000.0
    ),
    CASE
      WHEN "t1"."`plain 0`" ~ '^(?:(?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3}))$'
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
                      '(' || '^(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})$' || ')'
                    )
                    THEN (
                      REGEXP_MATCH(
                        "t1"."`plain 0`",
                        '(' || '^(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})$' || ')'
                      )
                    )[2]
                    ELSE NULL
                  END AS BIGINT),
                  1970
                ) AS INT),
                CAST(1 AS INT),
                CAST(1 AS INT)
              ) AS TIMESTAMP) - CAST(CAST('1970-01-01' AS DATE) AS TIMESTAMP)) / 86400 AS BIGINT) + 1
            ) - 1
          ) * 86400
        ) + (
          0 * 3600
        ) + (
          0 * 60
        ) + 0 AS DOUBLE PRECISION)
      ) + MAKE_INTERVAL(0, 0, 0, 0, 0, 0, CAST(0 AS DOUBLE PRECISION) / 1000000.0)
      ELSE CAST(NULL AS TIMESTAMP(6))
    END
  ) AS "c"
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
