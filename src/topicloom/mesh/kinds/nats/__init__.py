"""NATS servers joined by leaf nodes."""
