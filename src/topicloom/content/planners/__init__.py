"""Assignments of users to brokers at low cost."""
