SELECT
  *
FROM `view` AS `t0`
WHERE
  `t0`.`ward` IN ('A', 'B')
