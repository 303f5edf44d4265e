SELECT
  *
FROM `view` AS `t0`
WHERE
  NOT (
    `t0`.`consent` AND NOT (
      `t0`.`age` IS NULL
    )
  )
