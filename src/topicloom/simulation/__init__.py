"""Virtual time: one loop that drives any sans-IO core, and the links between cores. Knows no protocol."""
