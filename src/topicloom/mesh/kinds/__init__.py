"""The kinds of brokers: one folder and one line in registry.py each. kind.py says what a kind must tell."""
