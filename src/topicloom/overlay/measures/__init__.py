"""Overlay and interest in, numbers out. One file per family; `registry.py` lists them."""
