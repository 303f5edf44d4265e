SELECT
  CAST(TIMESTAMP_MICROS(
    (
      (
        CAST((
          CAST(CAST(FLOOR(
            (
              CASE
                WHEN `t0`.`c` BETWEEN -9999999999 AND 99999999999
                THEN `t0`.`c`
                ELSE CAST(NULL AS DOUBLE)
              END * CAST('1000000.0' AS DOUBLE)
            ) + CAST('0.5' AS DOUBLE)
          ) AS BIGINT) AS BIGINT) - (
            (
              CAST(CAST(FLOOR(
                (
                  CASE
                    WHEN `t0`.`c` BETWEEN -9999999999 AND 99999999999
                    THEN `t0`.`c`
                    ELSE CAST(NULL AS DOUBLE)
                  END * CAST('1000000.0' AS DOUBLE)
                ) + CAST('0.5' AS DOUBLE)
              ) AS BIGINT) % 1000000 AS BIGINT) + 1000000
            ) % 1000000
          )
        ) / 1000000 AS BIGINT) + 0
      ) * 1000000
    ) + (
      (
        CAST(CAST(FLOOR(
          (
            CASE
              WHEN `t0`.`c` BETWEEN -9999999999 AND 99999999999
              THEN `t0`.`c`
              ELSE CAST(NULL AS DOUBLE)
            END * CAST('1000000.0' AS DOUBLE)
          ) + CAST('0.5' AS DOUBLE)
        ) AS BIGINT) % 1000000 AS BIGINT) + 1000000
      ) % 1000000
    )
  ) AS TIMESTAMP_NTZ) AS `c`
FROM `records` AS `t0`
