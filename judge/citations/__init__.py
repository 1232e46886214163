"""Citation marks in a text, and whether the sources that they cite support what it says."""
