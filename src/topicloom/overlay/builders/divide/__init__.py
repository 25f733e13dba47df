"""Divide and conquer [Chen2010, IV]: divide the nodes into groups, build each, join representatives.

`plan.py` decides who takes part at which level, `run.py` runs the phases on a `DivideEngine`: `local.py` in
this process, `overlay/spark/divide.py` on Spark. Both map over the pure functions of `phases.py` and
`groups.py`, so the same seed gives the same edges.
"""
