"""From a build to a mesh: links planned and proven, then hosts, ports, files, names and logins."""
