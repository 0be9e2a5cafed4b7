"""The exercises of the course, one file a lesson; each file says what the learner sees before and after."""
