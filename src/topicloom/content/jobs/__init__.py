"""What the commands about content do, without a word about presentation."""
