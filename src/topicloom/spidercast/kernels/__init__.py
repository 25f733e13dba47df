"""Inner loops of the simulator."""
