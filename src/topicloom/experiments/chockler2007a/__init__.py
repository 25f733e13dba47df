"""Constructing Scalable Overlays: GM beside a ring per topic [Chockler2007a]."""
