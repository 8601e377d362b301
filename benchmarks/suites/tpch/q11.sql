-- TPC-H Q11, important stock identification. {fraction} is the specification's 0.0001 / scale.
SELECT ps.partkey, sum(ps.supplycost * ps.availqty) AS value
FROM partsupp AS ps, supplier AS s, nation AS n
WHERE ps.suppkey = s.suppkey
  AND s.nationkey = n.nationkey
  AND n.name = 'GERMANY'
GROUP BY ps.partkey
HAVING sum(ps.supplycost * ps.availqty) > (
    SELECT sum(ps.supplycost * ps.availqty) * {fraction}
    FROM partsupp AS ps, supplier AS s, nation AS n
    WHERE ps.suppkey = s.suppkey
      AND s.nationkey = n.nationkey
      AND n.name = 'GERMANY')
ORDER BY value DESC;
