"""What makes a demonstration dependable: each part is put around a model or a registry, from outside."""
