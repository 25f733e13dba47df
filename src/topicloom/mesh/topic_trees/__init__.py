"""Spanning trees of topics, their packing into forests, the links of a deployment, and their checker."""
