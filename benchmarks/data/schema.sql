-- TPC-H's tables with the paper's column names (the specification's, without their prefixes).
CREATE TABLE region(
    regionkey INTEGER PRIMARY KEY, name TEXT, comment TEXT);
CREATE TABLE nation(
    nationkey INTEGER PRIMARY KEY, name TEXT, regionkey INTEGER, comment TEXT);
CREATE TABLE supplier(
    suppkey INTEGER PRIMARY KEY, name TEXT, address TEXT, nationkey INTEGER, phone TEXT,
    acctbal REAL, comment TEXT);
CREATE TABLE customer(
    custkey INTEGER PRIMARY KEY, name TEXT, address TEXT, nationkey INTEGER, phone TEXT,
    acctbal REAL, mktsegment TEXT, comment TEXT);
CREATE TABLE part(
    partkey INTEGER PRIMARY KEY, name TEXT, mfgr TEXT, brand TEXT, type TEXT, size INTEGER,
    container TEXT, retailprice REAL, comment TEXT);
CREATE TABLE partsupp(
    partkey INTEGER, suppkey INTEGER, availqty INTEGER, supplycost REAL, comment TEXT,
    PRIMARY KEY(partkey, suppkey));
CREATE TABLE orders(
    orderkey INTEGER PRIMARY KEY, custkey INTEGER, orderstatus TEXT, totalprice REAL,
    orderdate DATE, orderpriority TEXT, clerk TEXT, shippriority INTEGER, comment TEXT);
CREATE TABLE lineitem(
    orderkey INTEGER, partkey INTEGER, suppkey INTEGER, linenumber INTEGER, quantity INTEGER,
    extendedprice REAL, discount REAL, tax REAL, returnflag TEXT, linestatus TEXT, shipdate DATE,
    commitdate DATE, receiptdate DATE, shipinstruct TEXT, shipmode TEXT, comment TEXT,
    PRIMARY KEY(orderkey, linenumber));
