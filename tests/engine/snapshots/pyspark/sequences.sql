WITH `t2` AS (
  SELECT
    `t1`.`age`,
    `t1`.`ward`,
    `t1`.`code`,
    `t1`.`consent`,
    `t1`.`seen`,
    `t1`.`note`,
    `t1`.`__person__`,
    CAST(ROW_NUMBER() OVER (
      PARTITION BY `t1`.`__person__`
      ORDER BY `t1`.`age` ASC, `t1`.`ward` ASC, `t1`.`code` ASC, `t1`.`consent` ASC, `t1`.`seen` ASC, `t1`.`note` ASC
    ) AS BIGINT) - 1 AS `__place__`
  FROM (
    SELECT
      TRY_CAST(`t0`.`age` AS DOUBLE) AS `age`,
      TRY_VALIDATE_UTF8(CAST(CAST(CAST(`t0`.`ward` AS STRING) AS BINARY) AS STRING)) AS `ward`,
      CAST(CASE
        WHEN CASE
          WHEN `t0`.`code` BETWEEN CAST('-9007199254740992.0' AS DOUBLE) AND CAST('9007199254740992.0' AS DOUBLE)
          THEN `t0`.`code`
          ELSE CAST(NULL AS DOUBLE)
        END = CAST(FLOOR(
          CASE
            WHEN `t0`.`code` BETWEEN CAST('-9007199254740992.0' AS DOUBLE) AND CAST('9007199254740992.0' AS DOUBLE)
            THEN `t0`.`code`
            ELSE CAST(NULL AS DOUBLE)
          END
        ) AS BIGINT)
        THEN CASE
          WHEN `t0`.`code` BETWEEN CAST('-9007199254740992.0' AS DOUBLE) AND CAST('9007199254740992.0' AS DOUBLE)
          THEN `t0`.`code`
          ELSE CAST(NULL AS DOUBLE)
        END
        ELSE CAST(NULL AS DOUBLE)
      END AS BIGINT) AS `code`,
      `t0`.`consent`,
      CASE
        WHEN TRY_CAST(`t0`.`seen` AS TIMESTAMP_NTZ) BETWEEN CAST('0001-01-01T00:00:00' AS TIMESTAMP_NTZ) AND CAST('9999-12-31T23:59:59.999999' AS TIMESTAMP_NTZ)
        THEN TRY_CAST(`t0`.`seen` AS TIMESTAMP_NTZ)
        ELSE CAST(NULL AS TIMESTAMP_NTZ)
      END AS `seen`,
      TRY_VALIDATE_UTF8(CAST(CAST(CAST(`t0`.`note` AS STRING) AS BINARY) AS STRING)) AS `note`,
      `t0`.`id` AS `__person__`
    FROM `records` AS `t0`
  ) AS `t1`
)
SELECT
  `t12`.`cell`,
  COUNT(*) AS `persons`
FROM (
  SELECT
    *
  FROM (
    SELECT
      `t10`.`cell`
    FROM (
      SELECT
        `t9`.`person`,
        `t9`.`cell`,
        CAST(ROW_NUMBER() OVER (
          PARTITION BY `t9`.`person`
          ORDER BY (
            (
              CAST((
                (
                  CAST((
                    (
                      CAST((
                        (
                          CAST(SHIFTRIGHT(`t9`.`cell`, 31) AS BIGINT) * 741103597
                        ) + (
                          CAST(`t9`.`cell` & 2147483647 AS BIGINT) * 887987685
                        ) + 538113041
                      ) % 2147483647 AS BIGINT) * (
                        (
                          (
                            CAST(SHIFTRIGHT(`t9`.`cell`, 31) AS BIGINT) * 741103597
                          ) + (
                            CAST(`t9`.`cell` & 2147483647 AS BIGINT) * 887987685
                          ) + 538113041
                        ) % 2147483647
                      )
                    ) + 262147003
                  ) % 2147483647 AS BIGINT) * 1019834119
                ) + (
                  `t9`.`cell` & 2147483647
                )
              ) % 2147483647 AS BIGINT) * (
                (
                  (
                    CAST((
                      (
                        CAST((
                          (
                            CAST(SHIFTRIGHT(`t9`.`cell`, 31) AS BIGINT) * 741103597
                          ) + (
                            CAST(`t9`.`cell` & 2147483647 AS BIGINT) * 887987685
                          ) + 538113041
                        ) % 2147483647 AS BIGINT) * (
                          (
                            (
                              CAST(SHIFTRIGHT(`t9`.`cell`, 31) AS BIGINT) * 741103597
                            ) + (
                              CAST(`t9`.`cell` & 2147483647 AS BIGINT) * 887987685
                            ) + 538113041
                          ) % 2147483647
                        )
                      ) + 262147003
                    ) % 2147483647 AS BIGINT) * 1019834119
                  ) + (
                    `t9`.`cell` & 2147483647
                  )
                ) % 2147483647
              )
            ) + 99194853
          ) % 2147483647 ASC NULLS LAST, `t9`.`cell` ASC NULLS LAST
        ) AS BIGINT) - 1 AS `number`
      FROM (
        SELECT DISTINCT
          *
        FROM (
          SELECT
            `t7`.`person`,
            EXPLODE(
              ARRAY(
                (
                  CAST(0 AS BIGINT) * 2
                ) + `t7`.`code` + 0,
                (
                  (
                    (
                      CAST(0 AS BIGINT) * 2
                    ) + `t7`.`code`
                  ) * 2
                ) + `t7`.`code1` + 2
              )
            ) AS `cell`
          FROM (
            SELECT
              `t5`.`person`,
              `t5`.`moment`,
              `t5`.`code`,
              LEAD(`t5`.`code`, 1) OVER (PARTITION BY `t5`.`person` ORDER BY `t5`.`moment` ASC NULLS LAST, `t5`.`code` ASC) AS `code1`
            FROM (
              SELECT
                `t3`.`__person__` AS `person`,
                `t3`.`seen` AS `moment`,
                (
                  CAST(0 AS BIGINT) * 2
                ) + CASE
                  WHEN `t3`.`ward` = 'A'
                  THEN 0
                  WHEN `t3`.`ward` = 'B'
                  THEN 1
                  ELSE CAST(NULL AS BIGINT)
                END AS `code`
              FROM `t2` AS `t3`
              WHERE
                `t3`.`seen` IS NOT NULL AND `t3`.`__person__` IS NOT NULL
            ) AS `t5`
          ) AS `t7`
        ) AS `t8`
        WHERE
          `t8`.`cell` IS NOT NULL
      ) AS `t9`
    ) AS `t10`
    WHERE
      `t10`.`number` < 3
  ) AS `t11`
  UNION ALL
  SELECT
    *
  FROM (
    SELECT
      `t4`.`code` AS `cell`
    FROM (
      SELECT
        `t3`.`__person__` AS `person`,
        `t3`.`seen` AS `moment`,
        (
          CAST(0 AS BIGINT) * 2
        ) + CASE
          WHEN `t3`.`ward` = 'A'
          THEN 0
          WHEN `t3`.`ward` = 'B'
          THEN 1
          ELSE CAST(NULL AS BIGINT)
        END AS `code`
      FROM `t2` AS `t3`
      WHERE
        `t3`.`seen` IS NOT NULL
    ) AS `t4`
    WHERE
      `t4`.`person` IS NULL AND `t4`.`code` IS NOT NULL
  ) AS `t6`
) AS `t12`
GROUP BY
  1
