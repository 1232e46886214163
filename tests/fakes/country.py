"""The country of a sources file that names none."""

from judge.library.sources.catalog import parse_sources

UK = parse_sources("[domains.x]\nsources = []").country
