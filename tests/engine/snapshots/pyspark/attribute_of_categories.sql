SELECT
  CASE
    WHEN `t0`.`ward` = 'A'
    THEN 0
    WHEN `t0`.`ward` = 'B'
    THEN 1
    ELSE CAST(NULL AS BIGINT)
  END AS `code`
FROM `view` AS `t0`
