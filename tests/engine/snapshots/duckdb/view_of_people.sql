SELECT
  "t2"."age",
  "t2"."ward",
  "t2"."code",
  "t2"."consent",
  "t2"."seen",
  "t2"."note"
FROM (
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
      ORDER BY "t1"."age" ASC NULLS FIRST, "t1"."ward" ASC NULLS FIRST, "t1"."code" ASC NULLS FIRST, "t1"."consent" ASC NULLS FIRST, "t1"."seen" ASC NULLS FIRST, "t1"."note" ASC NULLS FIRST
      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
    ) - 1 AS "__place__"
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
WHERE
  (
    "t2"."__person__" IS NULL
  ) OR (
    "t2"."__place__" < 3
  )
