"""The course: lessons as source, as notebooks, and in a learner's workspace."""
