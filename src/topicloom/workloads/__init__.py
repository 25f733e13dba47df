"""Synthetic interest: popularity laws, subscription sizes, the papers' presets. No files, no Spark."""
