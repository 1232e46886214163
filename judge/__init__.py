"""Judge: verdicts on everyday disputes, with verified citations."""
