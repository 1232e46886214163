"""What Judge knows before anyone configures it, as data: words of subjects, calls for care."""
