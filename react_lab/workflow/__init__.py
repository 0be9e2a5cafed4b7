"""Workflows: a path through several model calls that is fixed in code."""
