"""Zenoh routers, one for each node and class."""
