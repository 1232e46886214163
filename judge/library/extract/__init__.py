"""Bytes -> title, lead, passages, date and status of a page or document."""
