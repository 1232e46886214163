"""The approved pages that bear on a dispute, ranked by their words."""
