WITH "t2" AS (
  SELECT
    "t1"."age",
    "t1"."ward",
    "t1"."code",
    "t1"."consent",
    "t1"."seen",
    "t1"."note",
    "t1"."__person__",
    ROW_NUMBER() OVER (
      PARTITION BY "t1"."__person__"
      ORDER BY "t1"."age" ASC NULLS FIRST, CONVERT_TO("t1"."ward", 'UTF8') ASC NULLS FIRST, "t1"."code" ASC NULLS FIRST, "t1"."consent" ASC NULLS FIRST, "t1"."seen" ASC NULLS FIRST, CONVERT_TO("t1"."note", 'UTF8') ASC NULLS FIRST
      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
    ) - 1 AS "__place__"
  FROM (
    SELECT
      CAST("t0"."age" AS DOUBLE PRECISION) AS "age",
      TEXTIN(TEXTOUT(CAST("t0"."ward" AS VARCHAR))) AS "ward",
      CAST(CASE
        WHEN CASE
          WHEN "t0"."code" BETWEEN -9007199254740992.0 AND 9007199254740992.0
          THEN "t0"."code"
          ELSE CAST(NULL AS DOUBLE PRECISION)
        END = CAST(FLOOR(
          CASE
            WHEN "t0"."code" BETWEEN -9007199254740992.0 AND 9007199254740992.0
            THEN "t0"."code"
            ELSE CAST(NULL AS DOUBLE PRECISION)
          END
        ) AS BIGINT)
        THEN CASE
          WHEN "t0"."code" BETWEEN -9007199254740992.0 AND 9007199254740992.0
          THEN "t0"."code"
          ELSE CAST(NULL AS DOUBLE PRECISION)
        END
        ELSE CAST(NULL AS DOUBLE PRECISION)
      END AS BIGINT) AS "code",
      "t0"."consent",
      CAST(CASE
        WHEN "t0"."seen" BETWEEN CAST('0001-01-01T00:00:00' AS TIMESTAMP) AND CAST('9999-12-31T23:59:59.999999' AS TIMESTAMP)
        THEN "t0"."seen"
        ELSE CAST(NULL AS TIMESTAMP)
      END AS TIMESTAMP(6)) AS "seen",
      TEXTIN(TEXTOUT(CAST("t0"."note" AS VARCHAR))) AS "note",
      "t0"."id" AS "__person__"
    FROM "records" AS "t0"
  ) AS "t1"
)
SELECT
  "t12"."cell",
  COUNT(*) AS "persons"
FROM (
  SELECT
    *
  FROM (
    SELECT
      "t10"."cell"
    FROM (
      SELECT
        "t9"."person",
        "t9"."cell",
        ROW_NUMBER() OVER (
          PARTITION BY "t9"."person"
          ORDER BY (
            (
              (
                (
                  (
                    (
                      (
                        (
                          (
                            (
                              (
                                (
                                  "t9"."cell" >> 31
                                ) * 741103597
                              ) + (
                                (
                                  "t9"."cell" & 2147483647
                                ) * 887987685
                              ) + 538113041
                            ) % 2147483647
                          ) * (
                            (
                              (
                                (
                                  "t9"."cell" >> 31
                                ) * 741103597
                              ) + (
                                (
                                  "t9"."cell" & 2147483647
                                ) * 887987685
                              ) + 538113041
                            ) % 2147483647
                          )
                        ) + 262147003
                      ) % 2147483647
                    ) * 1019834119
                  ) + (
                    "t9"."cell" & 2147483647
                  )
                ) % 2147483647
              ) * (
                (
                  (
                    (
                      (
                        (
                          (
                            (
                              (
                                (
                                  "t9"."cell" >> 31
                                ) * 741103597
                              ) + (
                                (
                                  "t9"."cell" & 2147483647
                                ) * 887987685
                              ) + 538113041
                            ) % 2147483647
                          ) * (
                            (
                              (
                                (
                                  "t9"."cell" >> 31
                                ) * 741103597
                              ) + (
                                (
                                  "t9"."cell" & 2147483647
                                ) * 887987685
                              ) + 538113041
                            ) % 2147483647
                          )
                        ) + 262147003
                      ) % 2147483647
                    ) * 1019834119
                  ) + (
                    "t9"."cell" & 2147483647
                  )
                ) % 2147483647
              )
            ) + 99194853
          ) % 2147483647 ASC, "t9"."cell" ASC
          ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
        ) - 1 AS "number"
      FROM (
        SELECT DISTINCT
          *
        FROM (
          SELECT
            "t7"."person",
            UNNEST(
              ARRAY[
                (
                  0 * 2
                ) + "t7"."code" + 0,
                (
                  (
                    (
                      0 * 2
                    ) + "t7"."code"
                  ) * 2
                ) + "t7"."code1" + 2
              ]
            ) AS "cell"
          FROM (
            SELECT
              "t5"."person",
              "t5"."moment",
              "t5"."code",
              LEAD("t5"."code", 1) OVER (
                PARTITION BY "t5"."person"
                ORDER BY "t5"."moment" ASC, "t5"."code" ASC NULLS FIRST
                ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
              ) AS "code1"
            FROM (
              SELECT
                "t3"."__person__" AS "person",
                "t3"."seen" AS "moment",
                (
                  0 * 2
                ) + CASE
                  WHEN "t3"."ward" = 'A'
                  THEN 0
                  WHEN "t3"."ward" = 'B'
                  THEN 1
                  ELSE CAST(NULL AS BIGINT)
                END AS "code"
              FROM "t2" AS "t3"
              WHERE
                "t3"."seen" IS NOT NULL AND "t3"."__person__" IS NOT NULL
            ) AS "t5"
          ) AS "t7"
        ) AS "t8"
        WHERE
          "t8"."cell" IS NOT NULL
      ) AS "t9"
    ) AS "t10"
    WHERE
      "t10"."number" < 3
  ) AS "t11"
  UNION ALL
  SELECT
    *
  FROM (
    SELECT
      "t4"."code" AS "cell"
    FROM (
      SELECT
        "t3"."__person__" AS "person",
        "t3"."seen" AS "moment",
        (
          0 * 2
        ) + CASE
          WHEN "t3"."ward" = 'A'
          THEN 0
          WHEN "t3"."ward" = 'B'
          THEN 1
          ELSE CAST(NULL AS BIGINT)
        END AS "code"
      FROM "t2" AS "t3"
      WHERE
        "t3"."seen" IS NOT NULL
    ) AS "t4"
    WHERE
      "t4"."person" IS NULL AND "t4"."code" IS NOT NULL
  ) AS "t6"
) AS "t12"
GROUP BY
  1
