"""Finished runs as pages of a Notion database, and Notion's pages as an agent's memory.

Read in this order: text (rich text and its limits), blocks (Markdown to blocks), page (a note's blocks),
plan (blocks to the fewest requests), client (one request, whatever the weather), journal (what was sent),
attachment (the trace as a file), writer (a page that is whole however often it was interrupted),
database (columns), exporter (`publish`).
"""
