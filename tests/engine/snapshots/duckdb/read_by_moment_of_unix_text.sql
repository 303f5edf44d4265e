SELECT
  COALESCE(
    MAKE_TIMESTAMP(
      (
        (
          CAST((
            CASE
              WHEN REGEXP_MATCHES("t1"."`plain 0`", '^(?:-[0-9]{1,13}|[+]?[0-9]{1,14})(?:[.][0-9]{0,20})?$')
              THEN CASE WHEN STARTS_WITH("t1"."`plain 0`", '-') THEN -1 ELSE 1 END * (
                (
                  COALESCE(
                    TRY_CAST(SUBSTRING(
                      REGEXP_EXTRACT("t1"."`plain 0`", '^([+-]?)([0-9]+)[.]?([0-9]*)$', 2),
                      CASE
                        WHEN (
                          0 + 1
                        ) >= 1
                        THEN 0 + 1
                        ELSE 0 + 1 + LENGTH(REGEXP_EXTRACT("t1"."`plain 0`", '^([+-]?)([0-9]+)[.]?([0-9]*)$', 2))
                      END,
                      14
                    ) AS BIGINT),
                    0
                  ) * 1000
                ) + COALESCE(
                  TRY_CAST(SUBSTRING(
                    COALESCE(REGEXP_EXTRACT("t1"."`plain 0`", '^([+-]?)([0-9]+)[.]?([0-9]*)$', 3), '') || '000',
                    CASE
                      WHEN (
                        0 + 1
                      ) >= 1
                      THEN 0 + 1
                      ELSE 0 + 1 + LENGTH(
                        COALESCE(REGEXP_EXTRACT("t1"."`plain 0`", '^([+-]?)([0-9]+)[.]?([0-9]*)$', 3), '') || '000'
                      )
                    END,
                    3
                  ) AS BIGINT),
                  0
                )
              )
              ELSE CAST(NULL AS BIGINT)
            END - (
              (
                (
                  CASE
                    WHEN REGEXP_MATCHES("t1"."`plain 0`", '^(?:-[0-9]{1,13}|[+]?[0-9]{1,14})(?:[.][0-9]{0,20})?$')
                    THEN CASE WHEN STARTS_WITH("t1"."`plain 0`", '-') THEN -1 ELSE 1 END * (
                      (
                        COALESCE(
                          TRY_CAST(SUBSTRING(
                            REGEXP_EXTRACT("t1"."`plain 0`", '^([+-]?)([0-9]+)[.]?([0-9]*)$', 2),
                            CASE
                              WHEN (
                                0 + 1
                              ) >= 1
                              THEN 0 + 1
                              ELSE 0 + 1 + LENGTH(REGEXP_EXTRACT("t1"."`plain 0`", '^([+-]?)([0-9]+)[.]?([0-9]*)$', 2))
                            END,
                            14
                          ) AS BIGINT),
                          0
                        ) * 1000
                      ) + COALESCE(
                        TRY_CAST(SUBSTRING(
                          COALESCE(REGEXP_EXTRACT("t1"."`plain 0`", '^([+-]?)([0-9]+)[.]?([0-9]*)$', 3), '') || '000',
                          CASE
                            WHEN (
                              0 + 1
                            ) >= 1
                            THEN 0 + 1
                            ELSE 0 + 1 + LENGTH(
                              COALESCE(REGEXP_EXTRACT("t1"."`plain 0`", '^([+-]?)([0-9]+)[.]?([0-9]*)$', 3), '') || '000'
                            )
                          END,
                          3
                        ) AS BIGINT),
                        0
                      )
                    )
                    ELSE CAST(NULL AS BIGINT)
                  END % 1000000
                ) + 1000000
              ) % 1000000
            )
          ) / 1000000 AS BIGINT) + 0
        ) * 1000000
      ) + (
        (
          (
            CASE
              WHEN REGEXP_MATCHES("t1"."`plain 0`", '^(?:-[0-9]{1,13}|[+]?[0-9]{1,14})(?:[.][0-9]{0,20})?$')
              THEN CASE WHEN STARTS_WITH("t1"."`plain 0`", '-') THEN -1 ELSE 1 END * (
                (
                  COALESCE(
                    TRY_CAST(SUBSTRING(
                      REGEXP_EXTRACT("t1"."`plain 0`", '^([+-]?)([0-9]+)[.]?([0-9]*)$', 2),
                      CASE
                        WHEN (
                          0 + 1
                        ) >= 1
                        THEN 0 + 1
                        ELSE 0 + 1 + LENGTH(REGEXP_EXTRACT("t1"."`plain 0`", '^([+-]?)([0-9]+)[.]?([0-9]*)$', 2))
                      END,
                      14
                    ) AS BIGINT),
                    0
                  ) * 1000
                ) + COALESCE(
                  TRY_CAST(SUBSTRING(
                    COALESCE(REGEXP_EXTRACT("t1"."`plain 0`", '^([+-]?)([0-9]+)[.]?([0-9]*)$', 3), '') || '000',
                    CASE
                      WHEN (
                        0 + 1
                      ) >= 1
                      THEN 0 + 1
                      ELSE 0 + 1 + LENGTH(
                        COALESCE(REGEXP_EXTRACT("t1"."`plain 0`", '^([+-]?)([0-9]+)[.]?([0-9]*)$', 3), '') || '000'
                      )
                    END,
                    3
                  ) AS BIGINT),
                  0
                )
              )
              ELSE CAST(NULL AS BIGINT)
            END % 1000000
          ) + 1000000
        ) % 1000000
      )
    ),
    CASE
      WHEN REGEXP_MATCHES("t1"."`plain 0`", '^(?:(?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3}))$')
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
                        TRY_CAST(REGEXP_EXTRACT("t1"."`plain 0`", '^(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})$', 1) AS BIGINT),
                        1970
                      ),
                      1,
                      1
                    )
                  ) + 1
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
    END
  ) AS "c"
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
