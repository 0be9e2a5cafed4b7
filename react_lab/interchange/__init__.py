"""Runs in the formats of others: OpenTelemetry spans, ATIF trajectories, message lists of Anthropic and OpenAI."""
