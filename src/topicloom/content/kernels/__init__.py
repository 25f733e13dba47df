"""Inner loops of the planners and of matching."""
