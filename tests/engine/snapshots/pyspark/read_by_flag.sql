SELECT
  CASE `t1`.```plain 0```
    WHEN 'ja'
    THEN TRUE
    WHEN 'nein'
    THEN FALSE
    ELSE CAST(NULL AS BOOLEAN)
  END AS `c`
FROM (
  SELECT
    `t0`.`c`,
    TRIM(CONCAT(
      CONCAT(CONCAT(CONCAT(CONCAT(CONCAT('', ' '), CHR(  9)), CHR(  10)), CHR(  13)), CHR(  11)),
      CHR(  12)
    ) FROM TRY_VALIDATE_UTF8(CAST(CAST(CAST(`t0`.`c` AS STRING) AS BINARY) AS STRING))) AS ```plain 0```
  FROM `records` AS `t0`
) AS `t1`
