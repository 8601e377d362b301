-- TPC-H Q20, potential part promotion: nested IN with a correlated sum.
SELECT s.name, s.address
FROM supplier AS s, nation AS n
WHERE s.suppkey IN (
    SELECT ps.suppkey
    FROM partsupp AS ps
    WHERE ps.partkey IN (SELECT partkey FROM part WHERE name LIKE 'forest%')
      AND ps.availqty > (
        SELECT 0.5 * sum(l.quantity)
        FROM lineitem AS l
        WHERE l.partkey = ps.partkey
          AND l.suppkey = ps.suppkey
          AND l.shipdate >= '1994-01-01'
          AND l.shipdate < date('1994-01-01', '+1 year')))
  AND s.nationkey = n.nationkey
  AND n.name = 'CANADA'
ORDER BY s.name;
