SELECT
  "t1"."age",
  "t1"."ward",
  "t1"."code",
  "t1"."consent",
  "t1"."seen",
  "t1"."note",
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
    TEXTIN(TEXTOUT(CAST("t0"."note" AS VARCHAR))) AS "note"
  FROM "records" AS "t0"
) AS "t1"
