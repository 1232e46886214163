"""Judge: verdicts on everyday disputes, with citations that are verified."""
