-- TPC-H Q4, order priority checking: orders of a quarter with a late line.
SELECT o.orderpriority, count(*) AS order_count
FROM orders AS o
WHERE o.orderdate >= '1993-07-01'
  AND o.orderdate < date('1993-07-01', '+3 months')
  AND EXISTS (
    SELECT *
    FROM lineitem AS l
    WHERE l.orderkey = o.orderkey AND l.commitdate < l.receiptdate)
GROUP BY o.orderpriority
ORDER BY o.orderpriority;
