SELECT
  *
FROM `view` AS `t0`
WHERE
  `t0`.`age` >= 18 AND `t0`.`consent` AND `t0`.`code` = 2
