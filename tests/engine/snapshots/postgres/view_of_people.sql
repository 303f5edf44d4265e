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
) AS "t2"
WHERE
  (
    "t2"."__person__" IS NULL
  ) OR (
    "t2"."__place__" < 3
  )
