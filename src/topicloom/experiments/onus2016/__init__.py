"""Low-ODA and overlays of diameter 2 [Onus2016]."""
