"""The only door to pyspark. Importing this package starts no JVM."""
