"""The benchmark harness: `python -m benchmarks` (`--help` lists the commands).

Every engine runs in processes of its own, the engines' processes take turns, answers are compared
before any time is shown, and the whole configuration is printed with the results.
"""
