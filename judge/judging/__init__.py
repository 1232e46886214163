"""The judgement of a dispute: from the request to a verdict whose citations are checked."""
