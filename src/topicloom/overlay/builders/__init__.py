"""Interest in, overlay out. One file per algorithm; `registry.py` lists them."""
