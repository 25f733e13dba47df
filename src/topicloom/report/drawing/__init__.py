"""The overlay as a picture: where each node is, and what the page needs to answer questions about it."""
