SELECT
  "t4"."note",
  (
    "t4"."__person__" IS NULL
  ) OR (
    "t4"."__place__" = 0
  ) AS "__person__"
FROM (
  SELECT
    "t3"."age",
    "t3"."ward",
    "t3"."code",
    "t3"."consent",
    "t3"."seen",
    "t3"."note",
    "t3"."__person__",
    "t3"."__non_sensitive__",
    ROW_NUMBER() OVER (
      PARTITION BY "t3"."__person__"
      ORDER BY "t3"."age" ASC NULLS FIRST, "t3"."ward" ASC NULLS FIRST, "t3"."code" ASC NULLS FIRST, "t3"."consent" ASC NULLS FIRST, "t3"."seen" ASC NULLS FIRST, "t3"."note" ASC NULLS FIRST
      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
    ) - 1 AS "__place__"
  FROM (
    SELECT
      "t2"."age",
      "t2"."ward",
      "t2"."code",
      "t2"."consent",
      "t2"."seen",
      "t2"."note",
      "t2"."__person__",
      CASE
        WHEN "t2"."__person__" IS NULL
        THEN "t2"."__non_sensitive__"
        ELSE BOOL_AND(CAST("t2"."__non_sensitive__" AS BOOLEAN)) OVER (
          PARTITION BY "t2"."__person__"
          ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
        )
      END AS "__non_sensitive__"
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
    ) AS "t2"
  ) AS "t3"
) AS "t4"
WHERE
  "t4"."__non_sensitive__"
ORDER BY
  "t4"."__person__" ASC NULLS FIRST,
  "t4"."__place__" ASC
