SELECT
  CASE
    WHEN (
      `t0`.`age` > 120
    ) OR (
      `t0`.`age` < 0
    )
    THEN CAST(NULL AS BIGINT)
    WHEN `t0`.`age` >= 65
    THEN 2
    WHEN `t0`.`age` >= 18
    THEN 1
    WHEN `t0`.`age` >= 0
    THEN 0
    ELSE CAST(NULL AS BIGINT)
  END AS `code`
FROM `view` AS `t0`
