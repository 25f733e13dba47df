"""From a build to files for graph tools, written and read back: graphs/."""
