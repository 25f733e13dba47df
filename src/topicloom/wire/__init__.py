"""What both protocols share: the shape of a core and its effects. No clock, no socket, no driver."""
