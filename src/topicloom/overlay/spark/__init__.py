"""Overlays on Spark: numbering an interest, divide and conquer, the judge."""
