"""The command line: one file per command. Printing, progress bars and the clock live here only."""
