"""The only door to files on disk. Whole or not at all: a temporary name first, then a rename."""
