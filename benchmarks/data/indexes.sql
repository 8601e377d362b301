-- Created after loading. Two of the specification's foreign keys, and no more: without the first,
-- Q17 and Q20 scan lineitem once for every candidate row (over a minute each at scale 0.2 against
-- 0.02 s), without the second Q22 scans orders so (20 s against 0.01 s). The remaining foreign keys
-- need no index: all 22 queries together take about 7 s at scale 0.2, and with indexes on every
-- foreign key the planner picks slower plans (Q7 2.4 s instead of 1.1 s, Q15 1.5 s instead of 0.14 s).
CREATE INDEX lineitem_partsupp ON lineitem(partkey, suppkey);
CREATE INDEX orders_customer ON orders(custkey);
