"""The only door to numba: arrays in, arrays out. No identifiers, no files, no clock."""
