"""Configurations of brokers, hand-written ones too: read, and moved to other addresses."""
