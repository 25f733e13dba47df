"""Tables of any size, read on Spark; nothing else in `tables` knows Spark."""
