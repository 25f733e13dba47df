"""A whole task as one function, from files to files; chooses the engine. No printing."""
