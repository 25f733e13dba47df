"""What the commands about broker meshes do, without a word about presentation."""
