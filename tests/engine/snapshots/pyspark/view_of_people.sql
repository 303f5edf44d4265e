SELECT
  `t2`.`age`,
  `t2`.`ward`,
  `t2`.`code`,
  `t2`.`consent`,
  `t2`.`seen`,
  `t2`.`note`
FROM (
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
) AS `t2`
WHERE
  (
    `t2`.`__person__` IS NULL
  ) OR (
    `t2`.`__place__` < 3
  )
