-- TPC-H Q15, top supplier, in the specification's variant with a common table expression.
WITH revenue (supplier_no, total_revenue) AS (
    SELECT suppkey, sum(extendedprice * (1 - discount))
    FROM lineitem
    WHERE shipdate >= '1996-01-01' AND shipdate < date('1996-01-01', '+3 months')
    GROUP BY suppkey)
SELECT s.suppkey, s.name, s.address, s.phone, r.total_revenue
FROM supplier AS s, revenue AS r
WHERE s.suppkey = r.supplier_no
  AND r.total_revenue = (SELECT max(total_revenue) FROM revenue)
ORDER BY s.suppkey;
