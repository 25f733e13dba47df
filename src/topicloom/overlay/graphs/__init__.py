"""Files for graph tools, written and read back without loss; one file for each format."""
