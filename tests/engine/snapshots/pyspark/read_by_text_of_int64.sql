SELECT
  CASE `t1`.```plain 0```
    WHEN 'Male'
    THEN 'Male'
    WHEN '1'
    THEN 'Male'
    ELSE TRY_VALIDATE_UTF8(CAST(CAST(CAST(`t1`.`c` AS STRING) AS BINARY) AS STRING))
  END AS `c`
FROM (
  SELECT
    `t0`.`c`,
    TRY_VALIDATE_UTF8(CAST(CAST(CAST(`t0`.`c` AS STRING) AS BINARY) AS STRING)) AS ```plain 0```
  FROM `records` AS `t0`
) AS `t1`
