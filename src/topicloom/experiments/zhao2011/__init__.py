"""Content-based overlays: what assignments of users cost [Zhao2011]."""
