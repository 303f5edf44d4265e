WITH "t9" AS (
  SELECT
    "t8"."__person__"
  FROM (
    SELECT
      "t7"."__person__",
      COUNT(*) AS "records"
    FROM (
      SELECT
        *
      FROM (
        SELECT
          "t1"."age",
          "t1"."ward",
          "t1"."code",
          "t1"."consent",
          "t1"."seen",
          "t1"."note",
          "t1"."__person__",
          COALESCE(
            "t1"."age" BETWEEN 0.0 AND 120.0
            AND "t1"."ward" IN ('A', 'B')
            AND (
              "t1"."consent" IS NOT NULL
            )
            AND (
              (
                "t1"."age" >= 18
              ) AND (
                (
                  "t1"."ward" = 'A'
                ) OR "t1"."consent"
              )
            ),
            FALSE
          ) AS "__non_sensitive__"
        FROM (
          SELECT
            TRY_CAST("t0"."age" AS DOUBLE) AS "age",
            TRY(DECODE(ENCODE(CAST("t0"."ward" AS TEXT)))) AS "ward",
            CAST(CASE
              WHEN CASE
                WHEN "t0"."code" BETWEEN -9007199254740992.0 AND 9007199254740992.0
                THEN "t0"."code"
                ELSE CAST(NULL AS DOUBLE)
              END = CAST(FLOOR(
                CASE
                  WHEN "t0"."code" BETWEEN -9007199254740992.0 AND 9007199254740992.0
                  THEN "t0"."code"
                  ELSE CAST(NULL AS DOUBLE)
                END
              ) AS BIGINT)
              THEN CASE
                WHEN "t0"."code" BETWEEN -9007199254740992.0 AND 9007199254740992.0
                THEN "t0"."code"
                ELSE CAST(NULL AS DOUBLE)
              END
              ELSE CAST(NULL AS DOUBLE)
            END AS BIGINT) AS "code",
            "t0"."consent",
            CASE
              WHEN TRY_CAST("t0"."seen" AS TIMESTAMP(6)) BETWEEN MAKE_TIMESTAMP(1, 1, 1, 0, 0, 0.0) AND MAKE_TIMESTAMP(9999, 12, 31, 23, 59, 59.999999)
              THEN TRY_CAST("t0"."seen" AS TIMESTAMP(6))
              ELSE CAST(NULL AS TIMESTAMP(6))
            END AS "seen",
            TRY(DECODE(ENCODE(CAST("t0"."note" AS TEXT)))) AS "note",
            "t0"."id" AS "__person__"
          FROM "records" AS "t0"
        ) AS "t1"
      ) AS "t4"
      WHERE
        "t4"."__person__" IS NOT NULL
    ) AS "t7"
    GROUP BY
      1
  ) AS "t8"
  WHERE
    "t8"."records" > 3
)
SELECT
  "t18".*
  EXCLUDE ("__person__")
FROM (
  SELECT
    "t17"."age",
    "t17"."ward",
    "t17"."code",
    "t17"."consent",
    "t17"."seen",
    "t17"."note",
    "t17"."__person__",
    "t17"."__non_sensitive__"
    AND NOT (
      COALESCE(
        "t17"."__person__" IN (
          SELECT DISTINCT
            "t3"."__person__"
          FROM (
            SELECT
              "t1"."age",
              "t1"."ward",
              "t1"."code",
              "t1"."consent",
              "t1"."seen",
              "t1"."note",
              "t1"."__person__",
              COALESCE(
                "t1"."age" BETWEEN 0.0 AND 120.0
                AND "t1"."ward" IN ('A', 'B')
                AND (
                  "t1"."consent" IS NOT NULL
                )
                AND (
                  (
                    "t1"."age" >= 18
                  ) AND (
                    (
                      "t1"."ward" = 'A'
                    ) OR "t1"."consent"
                  )
                ),
                FALSE
              ) AS "__non_sensitive__"
            FROM (
              SELECT
                TRY_CAST("t0"."age" AS DOUBLE) AS "age",
                TRY(DECODE(ENCODE(CAST("t0"."ward" AS TEXT)))) AS "ward",
                CAST(CASE
                  WHEN CASE
                    WHEN "t0"."code" BETWEEN -9007199254740992.0 AND 9007199254740992.0
                    THEN "t0"."code"
                    ELSE CAST(NULL AS DOUBLE)
                  END = CAST(FLOOR(
                    CASE
                      WHEN "t0"."code" BETWEEN -9007199254740992.0 AND 9007199254740992.0
                      THEN "t0"."code"
                      ELSE CAST(NULL AS DOUBLE)
                    END
                  ) AS BIGINT)
                  THEN CASE
                    WHEN "t0"."code" BETWEEN -9007199254740992.0 AND 9007199254740992.0
                    THEN "t0"."code"
                    ELSE CAST(NULL AS DOUBLE)
                  END
                  ELSE CAST(NULL AS DOUBLE)
                END AS BIGINT) AS "code",
                "t0"."consent",
                CASE
                  WHEN TRY_CAST("t0"."seen" AS TIMESTAMP(6)) BETWEEN MAKE_TIMESTAMP(1, 1, 1, 0, 0, 0.0) AND MAKE_TIMESTAMP(9999, 12, 31, 23, 59, 59.999999)
                  THEN TRY_CAST("t0"."seen" AS TIMESTAMP(6))
                  ELSE CAST(NULL AS TIMESTAMP(6))
                END AS "seen",
                TRY(DECODE(ENCODE(CAST("t0"."note" AS TEXT)))) AS "note",
                "t0"."id" AS "__person__"
              FROM "records" AS "t0"
            ) AS "t1"
          ) AS "t3"
          WHERE
            "t3"."__person__" IS NOT NULL AND NOT (
              "t3"."__non_sensitive__"
            )
        ),
        FALSE
      )
    ) AS "__non_sensitive__"
  FROM (
    SELECT
      *
    FROM (
      SELECT
        "t5"."age",
        "t5"."ward",
        "t5"."code",
        "t5"."consent",
        "t5"."seen",
        "t5"."note",
        "t5"."__person__",
        "t5"."__non_sensitive__"
      FROM (
        SELECT
          "t1"."age",
          "t1"."ward",
          "t1"."code",
          "t1"."consent",
          "t1"."seen",
          "t1"."note",
          "t1"."__person__",
          COALESCE(
            "t1"."age" BETWEEN 0.0 AND 120.0
            AND "t1"."ward" IN ('A', 'B')
            AND (
              "t1"."consent" IS NOT NULL
            )
            AND (
              (
                "t1"."age" >= 18
              ) AND (
                (
                  "t1"."ward" = 'A'
                ) OR "t1"."consent"
              )
            ),
            FALSE
          ) AS "__non_sensitive__"
        FROM (
          SELECT
            TRY_CAST("t0"."age" AS DOUBLE) AS "age",
            TRY(DECODE(ENCODE(CAST("t0"."ward" AS TEXT)))) AS "ward",
            CAST(CASE
              WHEN CASE
                WHEN "t0"."code" BETWEEN -9007199254740992.0 AND 9007199254740992.0
                THEN "t0"."code"
                ELSE CAST(NULL AS DOUBLE)
              END = CAST(FLOOR(
                CASE
                  WHEN "t0"."code" BETWEEN -9007199254740992.0 AND 9007199254740992.0
                  THEN "t0"."code"
                  ELSE CAST(NULL AS DOUBLE)
                END
              ) AS BIGINT)
              THEN CASE
                WHEN "t0"."code" BETWEEN -9007199254740992.0 AND 9007199254740992.0
                THEN "t0"."code"
                ELSE CAST(NULL AS DOUBLE)
              END
              ELSE CAST(NULL AS DOUBLE)
            END AS BIGINT) AS "code",
            "t0"."consent",
            CASE
              WHEN TRY_CAST("t0"."seen" AS TIMESTAMP(6)) BETWEEN MAKE_TIMESTAMP(1, 1, 1, 0, 0, 0.0) AND MAKE_TIMESTAMP(9999, 12, 31, 23, 59, 59.999999)
              THEN TRY_CAST("t0"."seen" AS TIMESTAMP(6))
              ELSE CAST(NULL AS TIMESTAMP(6))
            END AS "seen",
            TRY(DECODE(ENCODE(CAST("t0"."note" AS TEXT)))) AS "note",
            "t0"."id" AS "__person__"
          FROM "records" AS "t0"
        ) AS "t1"
      ) AS "t5"
      ANTI JOIN "t9" AS "t11"
        ON "t5"."__person__" = "t11"."__person__"
    ) AS "t13"
    UNION ALL
    SELECT
      *
    FROM (
      SELECT
        "t15"."age",
        "t15"."ward",
        "t15"."code",
        "t15"."consent",
        "t15"."seen",
        "t15"."note",
        "t15"."__person__",
        "t15"."__non_sensitive__"
      FROM (
        SELECT
          "t14"."age",
          "t14"."ward",
          "t14"."code",
          "t14"."consent",
          "t14"."seen",
          "t14"."note",
          "t14"."__person__",
          "t14"."__non_sensitive__",
          ROW_NUMBER() OVER (
            PARTITION BY "t14"."__person__"
            ORDER BY "t14"."age" ASC NULLS FIRST, "t14"."ward" ASC NULLS FIRST, "t14"."code" ASC NULLS FIRST, "t14"."consent" ASC NULLS FIRST, "t14"."seen" ASC NULLS FIRST, "t14"."note" ASC NULLS FIRST
            ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
          ) - 1 AS "__place__"
        FROM (
          SELECT
            "t5"."age",
            "t5"."ward",
            "t5"."code",
            "t5"."consent",
            "t5"."seen",
            "t5"."note",
            "t5"."__person__",
            "t5"."__non_sensitive__"
          FROM (
            SELECT
              "t1"."age",
              "t1"."ward",
              "t1"."code",
              "t1"."consent",
              "t1"."seen",
              "t1"."note",
              "t1"."__person__",
              COALESCE(
                "t1"."age" BETWEEN 0.0 AND 120.0
                AND "t1"."ward" IN ('A', 'B')
                AND (
                  "t1"."consent" IS NOT NULL
                )
                AND (
                  (
                    "t1"."age" >= 18
                  ) AND (
                    (
                      "t1"."ward" = 'A'
                    ) OR "t1"."consent"
                  )
                ),
                FALSE
              ) AS "__non_sensitive__"
            FROM (
              SELECT
                TRY_CAST("t0"."age" AS DOUBLE) AS "age",
                TRY(DECODE(ENCODE(CAST("t0"."ward" AS TEXT)))) AS "ward",
                CAST(CASE
                  WHEN CASE
                    WHEN "t0"."code" BETWEEN -9007199254740992.0 AND 9007199254740992.0
                    THEN "t0"."code"
                    ELSE CAST(NULL AS DOUBLE)
                  END = CAST(FLOOR(
                    CASE
                      WHEN "t0"."code" BETWEEN -9007199254740992.0 AND 9007199254740992.0
                      THEN "t0"."code"
                      ELSE CAST(NULL AS DOUBLE)
                    END
                  ) AS BIGINT)
                  THEN CASE
                    WHEN "t0"."code" BETWEEN -9007199254740992.0 AND 9007199254740992.0
                    THEN "t0"."code"
                    ELSE CAST(NULL AS DOUBLE)
                  END
                  ELSE CAST(NULL AS DOUBLE)
                END AS BIGINT) AS "code",
                "t0"."consent",
                CASE
                  WHEN TRY_CAST("t0"."seen" AS TIMESTAMP(6)) BETWEEN MAKE_TIMESTAMP(1, 1, 1, 0, 0, 0.0) AND MAKE_TIMESTAMP(9999, 12, 31, 23, 59, 59.999999)
                  THEN TRY_CAST("t0"."seen" AS TIMESTAMP(6))
                  ELSE CAST(NULL AS TIMESTAMP(6))
                END AS "seen",
                TRY(DECODE(ENCODE(CAST("t0"."note" AS TEXT)))) AS "note",
                "t0"."id" AS "__person__"
              FROM "records" AS "t0"
            ) AS "t1"
          ) AS "t5"
          SEMI JOIN "t9" AS "t12"
            ON "t5"."__person__" = "t12"."__person__"
        ) AS "t14"
      ) AS "t15"
      WHERE
        "t15"."__place__" < 3
    ) AS "t16"
  ) AS "t17"
) AS "t18"
