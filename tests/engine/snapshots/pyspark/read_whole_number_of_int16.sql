SELECT
  TRY_CAST(`t0`.`c` AS BIGINT) AS `c`
FROM `records` AS `t0`
