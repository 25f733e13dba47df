"""The only door to the integer programming library: arrays in, arrays out."""
