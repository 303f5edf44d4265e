SELECT
  CASE `t1`.```plain 0```
    WHEN ''
    THEN CAST(NULL AS STRING)
    WHEN 'na'
    THEN CAST(NULL AS STRING)
    WHEN 'male'
    THEN 'Male'
    WHEN 'm'
    THEN 'Male'
    ELSE TRIM(CONCAT(
      CONCAT(CONCAT(CONCAT(CONCAT(CONCAT('', ' '), CHR(  9)), CHR(  10)), CHR(  13)), CHR(  11)),
      CHR(  12)
    ) FROM TRY_VALIDATE_UTF8(CAST(CAST(CAST(`t1`.`c` AS STRING) AS BINARY) AS STRING)))
  END AS `c`
FROM (
  SELECT
    `t0`.`c`,
    TRANSLATE(
      TRIM(CONCAT(
        CONCAT(CONCAT(CONCAT(CONCAT(CONCAT('', ' '), CHR(  9)), CHR(  10)), CHR(  13)), CHR(  11)),
        CHR(  12)
      ) FROM TRY_VALIDATE_UTF8(CAST(CAST(CAST(`t0`.`c` AS STRING) AS BINARY) AS STRING))),
      'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
      'abcdefghijklmnopqrstuvwxyz'
    ) AS ```plain 0```
  FROM `records` AS `t0`
) AS `t1`
