"""Values of overlays, and the folders they are kept in."""
