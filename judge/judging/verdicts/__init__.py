"""Reply texts become checked verdicts, or named defects."""
