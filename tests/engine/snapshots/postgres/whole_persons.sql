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
      ORDER BY "t3"."age" ASC NULLS FIRST, CONVERT_TO("t3"."ward", 'UTF8') ASC NULLS FIRST, "t3"."code" ASC NULLS FIRST, "t3"."consent" ASC NULLS FIRST, "t3"."seen" ASC NULLS FIRST, CONVERT_TO("t3"."note", 'UTF8') ASC NULLS FIRST
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
        ELSE BOOL_AND("t2"."__non_sensitive__") OVER (
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
  ) AS "t3"
) AS "t4"
WHERE
  "t4"."__non_sensitive__"
ORDER BY
  "t4"."__person__" ASC NULLS FIRST,
  "t4"."__place__" ASC
