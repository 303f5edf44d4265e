SELECT
  TRY_CAST(`t0`.`c` AS DOUBLE) AS `c`
FROM `records` AS `t0`
