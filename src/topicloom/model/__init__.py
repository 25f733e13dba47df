"""The nouns: frozen values over numpy arrays. No algorithms, no files, no clock, no Spark."""
