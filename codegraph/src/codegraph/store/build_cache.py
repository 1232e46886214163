"""The build cache, for incremental builds: `rag_facts.msgpack`, which may be deleted."""

import zlib

import msgspec

from codegraph.facts import FileFacts
from codegraph.store.artifact import BUILDER
from codegraph.store.repository import MAX_FILE_BYTES

#: A file's facts are one to two times as long as its text; longer ones were not written by us.
MAX_FACTS_BYTES = 16 * MAX_FILE_BYTES


class DamagedCache(ValueError):
    """Cached facts cannot be read; every file has to be read again."""


class CachedFile(msgspec.Struct):
    """A source file in the cache: its compressed facts, and the names that linking it looked up.

    *counts* are the numbers of its nodes and edges. *lookups* is stored as `asked`.
    """

    hash: str
    facts: bytes
    counts: tuple[int, int] = (0, 0)
    lookups: dict[str, list[str]] = msgspec.field(default_factory=dict, name="asked")


class BuildCache(msgspec.Struct):
    """The whole of `rag_facts.msgpack`; *graph_crc32* is of the graph from the same build."""

    builder: str
    graph_crc32: int
    files: dict[str, CachedFile]


_pack = msgspec.msgpack.Encoder()
_facts_decoder = msgspec.msgpack.Decoder(FileFacts)
_cache_decoder = msgspec.msgpack.Decoder(BuildCache)


def encode_facts(facts: FileFacts) -> bytes:
    """The facts of one file as bytes, compressed to a third."""
    return zlib.compress(_pack.encode(facts), 1)


def decode_facts(content: bytes) -> FileFacts:
    """The facts that `encode_facts` wrote; raise DamagedCache for anything else."""
    try:
        unpacked = zlib.decompressobj().decompress(content, MAX_FACTS_BYTES)
        return _facts_decoder.decode(unpacked)
    except (zlib.error, msgspec.DecodeError) as error:
        raise DamagedCache from error


def encode_build_cache(files: dict[str, CachedFile], graph: bytes) -> bytes:
    """The cache of the build that wrote *graph*, as bytes."""
    return _pack.encode(BuildCache(BUILDER, zlib.crc32(graph), files))


def decode_build_cache(content: bytes | None, graph: bytes) -> dict[str, CachedFile]:
    """The cache of the last build; empty when it is damaged or does not belong to *graph*."""
    if content is None:
        return {}
    try:
        cache = _cache_decoder.decode(content)
    except msgspec.DecodeError:
        return {}
    is_ours = cache.builder == BUILDER and cache.graph_crc32 == zlib.crc32(graph)
    return cache.files if is_ours else {}
