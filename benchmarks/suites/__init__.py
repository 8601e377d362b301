"""What is measured: the micro-benchmarks, TPC-H, SSB, Figure 3, start-up."""
