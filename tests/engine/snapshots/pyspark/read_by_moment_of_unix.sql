SELECT
  CAST(TIMESTAMP_MICROS(
    (
      (
        CAST((
          (
            CAST(CASE
              WHEN `t0`.`c` BETWEEN -9999999999 AND 99999999999
              THEN `t0`.`c`
              ELSE CAST(NULL AS BIGINT)
            END AS BIGINT) * 1000000
          ) - (
            (
              CAST((
                CAST(CASE
                  WHEN `t0`.`c` BETWEEN -9999999999 AND 99999999999
                  THEN `t0`.`c`
                  ELSE CAST(NULL AS BIGINT)
                END AS BIGINT) * 1000000
              ) % 1000000 AS BIGINT) + 1000000
            ) % 1000000
          )
        ) / 1000000 AS BIGINT) + ELEMENT_AT(
          TRANSFORM(
            ARRAY(
              CAST((
                (
                  CAST(CASE
                    WHEN `t0`.`c` BETWEEN -9999999999 AND 99999999999
                    THEN `t0`.`c`
                    ELSE CAST(NULL AS BIGINT)
                  END AS BIGINT) * 1000000
                ) - (
                  (
                    CAST((
                      CAST(CASE
                        WHEN `t0`.`c` BETWEEN -9999999999 AND 99999999999
                        THEN `t0`.`c`
                        ELSE CAST(NULL AS BIGINT)
                      END AS BIGINT) * 1000000
                    ) % 1000000 AS BIGINT) + 1000000
                  ) % 1000000
                )
              ) / 1000000 AS BIGINT)
            ),
            __ibis_param_item__ -> IF(
              __ibis_param_item__ < 504901800,
              IF(__ibis_param_item__ < -1577943676, 20476, 19800),
              20700
            )
          ),
          0 + 1
        )
      ) * 1000000
    ) + (
      (
        CAST((
          CAST(CASE
            WHEN `t0`.`c` BETWEEN -9999999999 AND 99999999999
            THEN `t0`.`c`
            ELSE CAST(NULL AS BIGINT)
          END AS BIGINT) * 1000000
        ) % 1000000 AS BIGINT) + 1000000
      ) % 1000000
    )
  ) AS TIMESTAMP_NTZ) AS `c`
FROM `records` AS `t0`
