SELECT
  COUNT_IF(`t0`.`age` < CAST('18.5' AS DOUBLE)) AS `count0`,
  COUNT_IF((
    `t0`.`age` >= CAST('18.5' AS DOUBLE)
  ) AND (
    `t0`.`ward` = 'A'
  )) AS `count1`,
  COUNT_IF(NOT (
    `t0`.`consent`
  )) AS `count2`,
  COUNT_IF(`t0`.`note` IS NULL) AS `count3`
FROM `view` AS `t0`
