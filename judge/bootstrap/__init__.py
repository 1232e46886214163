"""Connects ports to adapters: opens what a process needs, and closes it again."""

from judge.bootstrap.corpus import Corpus, open_search
from judge.bootstrap.library import Library, open_library
from judge.bootstrap.services import Services, open_services
from judge.bootstrap.sources import compile_knowledge, open_sources, read_sources

__all__ = [
    "Corpus",
    "Library",
    "Services",
    "compile_knowledge",
    "open_library",
    "open_search",
    "open_services",
    "open_sources",
    "read_sources",
]
