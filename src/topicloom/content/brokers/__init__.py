"""Clients and brokers of paper 001, sections IV-C and V, as cores without clock, socket or thread.

`client.py` and `broker.py` are the two doors; `rules.py` says what they do about a user and what is promised.
"""
