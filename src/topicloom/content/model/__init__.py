"""Values of content problems and plans, and the folders they are kept in."""
