"""Finished runs, published: each exporter turns a trace into a note and puts it somewhere.

`react_lab` never imports this package: it finds exporters by the entry-point group `react_lab.exporters`.
"""
