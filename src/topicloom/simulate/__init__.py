"""Drives many protocol nodes in virtual time: deterministic for a seed, whatever the machine."""
