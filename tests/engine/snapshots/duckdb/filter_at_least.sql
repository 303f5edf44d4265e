SELECT
  *
FROM "view" AS "t0"
WHERE
  "t0"."seen" >= MAKE_TIMESTAMP(2021, 1, 31, 0, 0, 0.0)
