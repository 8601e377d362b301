"""The benchmark harness: `python -m benchmarks micro|tpch|ssb|figure3|data`.

Every engine runs in processes of its own, the engines' processes take turns, answers are compared
before any time is shown, and the whole configuration is printed with the results.
"""
