"""Stepping through a recorded run: in a notebook, in a page of its own, in a terminal."""
