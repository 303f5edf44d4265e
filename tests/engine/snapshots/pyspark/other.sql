SELECT
  IF((
    `t1`.`ward` IS NULL
  ) OR `t1`.`ward` IN ('A', 'B'), `t1`.`ward`, 'C') AS `ward`
FROM (
  SELECT
    TRY_VALIDATE_UTF8(CAST(CAST(CAST(`t0`.`ward` AS STRING) AS BINARY) AS STRING)) AS `ward`
  FROM `records` AS `t0`
) AS `t1`
