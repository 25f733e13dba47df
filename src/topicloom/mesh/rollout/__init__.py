"""From one mesh to another: what stays, the files of both phases, and the proof of all states in between."""
