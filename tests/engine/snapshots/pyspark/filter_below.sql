SELECT
  *
FROM `view` AS `t0`
WHERE
  `t0`.`age` < CAST('18.5' AS DOUBLE)
