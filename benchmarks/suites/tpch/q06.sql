-- TPC-H Q6, forecasting revenue change: one scan of lineitem, a filter and a sum.
SELECT sum(extendedprice * discount) AS revenue
FROM lineitem
WHERE shipdate >= '1994-01-01'
  AND shipdate < date('1994-01-01', '+1 year')
  AND discount BETWEEN 0.06 - 0.01 AND 0.06 + 0.01
  AND quantity < 24;
