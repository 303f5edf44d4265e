SELECT
  `t4`.`note`,
  (
    `t4`.`__person__` IS NULL
  ) OR (
    `t4`.`__place__` = 0
  ) AS `__person__`
FROM (
  SELECT
    `t3`.`age`,
    `t3`.`ward`,
    `t3`.`code`,
    `t3`.`consent`,
    `t3`.`seen`,
    `t3`.`note`,
    `t3`.`__person__`,
    `t3`.`__non_sensitive__`,
    CAST(ROW_NUMBER() OVER (
      PARTITION BY `t3`.`__person__`
      ORDER BY `t3`.`age` ASC, `t3`.`ward` ASC, `t3`.`code` ASC, `t3`.`consent` ASC, `t3`.`seen` ASC, `t3`.`note` ASC
    ) AS BIGINT) - 1 AS `__place__`
  FROM (
    SELECT
      `t2`.`age`,
      `t2`.`ward`,
      `t2`.`code`,
      `t2`.`consent`,
      `t2`.`seen`,
      `t2`.`note`,
      `t2`.`__person__`,
      IF(
        `t2`.`__person__` IS NULL,
        `t2`.`__non_sensitive__`,
        BOOL_AND(`t2`.`__non_sensitive__`) OVER (
          PARTITION BY `t2`.`__person__`
          ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
        )
      ) AS `__non_sensitive__`
    FROM (
      SELECT
        `t1`.`age`,
        `t1`.`ward`,
        `t1`.`code`,
        `t1`.`consent`,
        `t1`.`seen`,
        `t1`.`note`,
        `t1`.`__person__`,
        COALESCE(
          `t1`.`age` BETWEEN CAST('0.0' AS DOUBLE) AND CAST('120.0' AS DOUBLE)
          AND `t1`.`ward` IN ('A', 'B')
          AND (
            `t1`.`consent` IS NOT NULL
          )
          AND (
            (
              `t1`.`age` >= 18
            ) AND (
              (
                `t1`.`ward` = 'A'
              ) OR `t1`.`consent`
            )
          ),
          FALSE
        ) AS `__non_sensitive__`
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
    ) AS `t2`
  ) AS `t3`
) AS `t4`
WHERE
  `t4`.`__non_sensitive__`
ORDER BY
  `t4`.`__person__` ASC,
  `t4`.`__place__` ASC NULLS LAST
