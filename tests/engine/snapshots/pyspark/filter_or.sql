SELECT
  *
FROM `view` AS `t0`
WHERE
  (
    `t0`.`age` >= 18
  ) OR (
    `t0`.`ward` = 'B'
  )
