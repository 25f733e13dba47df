"""A mesh of brokers as values, and its folder on disk."""
