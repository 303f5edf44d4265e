SELECT
  CASE
    WHEN `t0`.`consent` = FALSE
    THEN 0
    WHEN `t0`.`consent` = TRUE
    THEN 1
    ELSE CAST(NULL AS BIGINT)
  END AS `code`
FROM `view` AS `t0`
