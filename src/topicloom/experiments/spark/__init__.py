"""Repetitions as Spark tasks."""
