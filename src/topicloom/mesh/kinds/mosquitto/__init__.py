"""Mosquitto brokers joined by bridges."""
