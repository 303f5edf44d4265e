WITH "t6" AS (
  SELECT
    "t5"."__person__"
  FROM (
    SELECT
      "t4"."__person__",
      COUNT(*) AS "records"
    FROM (
      SELECT
        *
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
      ) AS "t2"
      WHERE
        "t2"."__person__" IS NOT NULL
    ) AS "t4"
    GROUP BY
      1
  ) AS "t5"
  WHERE
    "t5"."records" > 3
)
SELECT
  *
FROM (
  SELECT
    "t3"."age",
    "t3"."ward",
    "t3"."code",
    "t3"."consent",
    "t3"."seen",
    "t3"."note"
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
  ) AS "t3"
  ANTI JOIN "t6" AS "t8"
    ON "t3"."__person__" = "t8"."__person__"
) AS "t10"
UNION ALL
SELECT
  *
FROM (
  SELECT
    "t12"."age",
    "t12"."ward",
    "t12"."code",
    "t12"."consent",
    "t12"."seen",
    "t12"."note"
  FROM (
    SELECT
      "t11"."age",
      "t11"."ward",
      "t11"."code",
      "t11"."consent",
      "t11"."seen",
      "t11"."note",
      "t11"."__person__",
      ROW_NUMBER() OVER (
        PARTITION BY "t11"."__person__"
        ORDER BY "t11"."age" ASC NULLS FIRST, "t11"."ward" ASC NULLS FIRST, "t11"."code" ASC NULLS FIRST, "t11"."consent" ASC NULLS FIRST, "t11"."seen" ASC NULLS FIRST, "t11"."note" ASC NULLS FIRST
        ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
      ) - 1 AS "__place__"
    FROM (
      SELECT
        "t3"."age",
        "t3"."ward",
        "t3"."code",
        "t3"."consent",
        "t3"."seen",
        "t3"."note",
        "t3"."__person__"
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
      ) AS "t3"
      SEMI JOIN "t6" AS "t9"
        ON "t3"."__person__" = "t9"."__person__"
    ) AS "t11"
  ) AS "t12"
  WHERE
    "t12"."__place__" < 3
) AS "t13"
