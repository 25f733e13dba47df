"""Charts; the only door to the plotting library."""
