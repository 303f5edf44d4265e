SELECT
  COUNT(*) FILTER(WHERE
    "t0"."age" < CAST('18.5' AS DOUBLE)) AS "count0",
  COUNT(*) FILTER(WHERE
    (
      "t0"."age" >= CAST('18.5' AS DOUBLE)
    ) AND (
      "t0"."ward" = 'A'
    )) AS "count1",
  COUNT(*) FILTER(WHERE
    NOT (
      "t0"."consent"
    )) AS "count2",
  COUNT(*) FILTER(WHERE
    "t0"."note" IS NULL) AS "count3"
FROM "view" AS "t0"
