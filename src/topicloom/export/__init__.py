"""From a build to graph files and broker configurations, and back; one file for each, registry.py."""
