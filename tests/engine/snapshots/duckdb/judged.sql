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
    TRY(DECODE(ENCODE(CAST("t0"."note" AS TEXT)))) AS "note"
  FROM "records" AS "t0"
) AS "t1"
