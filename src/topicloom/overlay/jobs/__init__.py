"""What the commands about overlays do, without a word about presentation."""
