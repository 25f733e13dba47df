"""Publication logs and price tables on Spark."""
