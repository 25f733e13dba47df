"""Synthetic interests."""
