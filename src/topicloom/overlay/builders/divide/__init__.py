"""Divide and conquer [Chen2010, IV]: part the nodes, build each group, join representatives.

`plan.py` decides who takes part at which level, `run.py` runs the phases on a `Ground`: `local.py` is the one
of this process, `overlay/spark/divide.py` the one on Spark. Both map over the pure functions of `phases.py`,
`deal.py` and `rep_set.py`, so the same seed gives the same edges.
"""
