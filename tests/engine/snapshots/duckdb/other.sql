SELECT
  CASE
    WHEN (
      "t1"."ward" IS NULL
    ) OR "t1"."ward" IN ('A', 'B')
    THEN "t1"."ward"
    ELSE 'C'
  END AS "ward"
FROM (
  SELECT
    TRY(DECODE(ENCODE(CAST("t0"."ward" AS TEXT)))) AS "ward"
  FROM "records" AS "t0"
) AS "t1"
