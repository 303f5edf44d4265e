SELECT
  CAST(TIMESTAMP_MICROS(
    CAST(UNIX_MICROS(
      CAST(CAST(CASE
        WHEN `t0`.`c` BETWEEN CAST('0002-01-01 00:00:00+00' AS TIMESTAMP_LTZ) AND CAST('9998-12-31 00:00:00+00' AS TIMESTAMP_LTZ)
        THEN `t0`.`c`
        ELSE CAST(NULL AS TIMESTAMP_LTZ)
      END AS TIMESTAMP_NTZ) AS TIMESTAMP_LTZ)
    ) AS BIGINT) + (
      CAST(ELEMENT_AT(
        TRANSFORM(
          ARRAY(
            CAST(UNIX_TIMESTAMP(
              CAST(DATE_TRUNC(
                'second',
                CAST(CASE
                  WHEN `t0`.`c` BETWEEN CAST('0002-01-01 00:00:00+00' AS TIMESTAMP_LTZ) AND CAST('9998-12-31 00:00:00+00' AS TIMESTAMP_LTZ)
                  THEN `t0`.`c`
                  ELSE CAST(NULL AS TIMESTAMP_LTZ)
                END AS TIMESTAMP_NTZ)
              ) AS TIMESTAMP_NTZ)
            ) AS BIGINT)
          ),
          __ibis_param_item__ -> IF(
            __ibis_param_item__ < 504901800,
            IF(__ibis_param_item__ < -1577943676, 20476, 19800),
            20700
          )
        ),
        0 + 1
      ) AS BIGINT) * 1000000
    )
  ) AS TIMESTAMP_NTZ) AS `c`
FROM `records` AS `t0`
