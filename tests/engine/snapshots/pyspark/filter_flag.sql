SELECT
  *
FROM `view` AS `t0`
WHERE
  `t0`.`consent`
