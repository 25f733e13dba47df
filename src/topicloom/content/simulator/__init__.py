"""Brokers and users in virtual time."""
