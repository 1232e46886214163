"""Hearing the other side: the same facts in their words, judged with the same references."""
