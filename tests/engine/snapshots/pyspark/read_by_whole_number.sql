SELECT
  CASE
    WHEN TRIM(CONCAT(
      CONCAT(CONCAT(CONCAT(CONCAT(CONCAT('', ' '), CHR(  9)), CHR(  10)), CHR(  13)), CHR(  11)),
      CHR(  12)
    ) FROM TRY_VALIDATE_UTF8(CAST(CAST(CAST(`t1`.`c` AS STRING) AS BINARY) AS STRING))) IN ('9')
    THEN CAST(NULL AS BIGINT)
    ELSE CASE
      WHEN `t1`.```plain 0``` RLIKE '^[+-]?(?:(?:[0-9]{1,3}(?:[    ][0-9]{3}){1,4}|[0-9]{1,15})(?:[.]0*)?)\\z'
      THEN TRY_CAST(REGEXP_EXTRACT(
        REPLACE(
          REPLACE(REPLACE(REPLACE(REPLACE(`t1`.```plain 0```, ' ', ''), ' ', ''), ' ', ''), ' ', ''),
          '+',
          ''
        ),
        '^(-?[0-9]+)[.]?0*\\z',
        1
      ) AS BIGINT)
      ELSE CAST(NULL AS BIGINT)
    END
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
