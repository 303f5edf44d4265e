SELECT
  *
FROM `records` AS `t0`
