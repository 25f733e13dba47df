"""Starts and stops real brokers on this machine and proves what they deliver."""
