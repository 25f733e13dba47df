"""What the command `simulate` does, without a word about presentation."""
