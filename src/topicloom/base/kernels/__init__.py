"""Kernels that several products share, and how kernels are compiled."""
