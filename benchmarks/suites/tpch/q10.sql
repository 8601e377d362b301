-- TPC-H Q10, returned item reporting: the twenty customers with most returns.
SELECT
    c.custkey,
    c.name,
    sum(l.extendedprice * (1 - l.discount)) AS revenue,
    c.acctbal,
    n.name,
    c.address,
    c.phone,
    c.comment
FROM customer AS c, orders AS o, lineitem AS l, nation AS n
WHERE c.custkey = o.custkey
  AND l.orderkey = o.orderkey
  AND o.orderdate >= '1993-10-01'
  AND o.orderdate < date('1993-10-01', '+3 months')
  AND l.returnflag = 'R'
  AND c.nationkey = n.nationkey
GROUP BY c.custkey, c.name, c.acctbal, c.phone, n.name, c.address, c.comment
ORDER BY revenue DESC
LIMIT 20;
