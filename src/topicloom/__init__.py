"""topicloom."""
