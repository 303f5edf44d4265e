SELECT
  NULLIF(
    NULLIF(
      CASE
        WHEN `t0`.`c` = 0
        THEN CAST('0.0' AS DOUBLE)
        WHEN `t0`.`c` BETWEEN CAST('-1.7976931348623157e+308' AS DOUBLE) AND CAST('1.7976931348623157e+308' AS DOUBLE)
        THEN `t0`.`c`
        ELSE CAST(NULL AS DOUBLE)
      END,
      -9
    ),
    CAST('99.5' AS DOUBLE)
  ) AS `c`
FROM `records` AS `t0`
