"""The Python interface: what `import topicloom` offers. Like the command line, it owns a clock.

overlays.py     read, generate, inspect, build, verify, measure
comparisons.py  several builders side by side
explanations.py why an edge, a node or a topic looks as it does
simulations.py  SpiderCast in virtual time
meshes.py       export, and brokers that run
contents.py     content planning
dataframes.py   the same for DataFrames of Spark; frames.py is what they stand on
tables.py       how a table is described
arguments.py    what callers may give for an interest or for edges, and what wrong ones are told
methods.py      methods of values that need all of this
"""
