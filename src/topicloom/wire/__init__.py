"""What both protocols share: the shape of a core, its effects, messages as bytes. No clock, no socket."""
