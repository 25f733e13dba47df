"""From a build to files for others: graphs/ for graph tools, written and read back; registry.py all kinds."""
