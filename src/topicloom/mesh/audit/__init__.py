"""What is wrong with configured meshes: loops, doubled and one-sided links, split topics."""
