"""What a build keeps for the next one, as bytes: `rag_facts.msgpack`, which may be deleted."""

import zlib

import msgspec

from judge.codegraph.facts import FileFacts
from judge.codegraph.store.artifact import BUILDER
from judge.codegraph.store.repository import MAX_FILE_BYTES

#: The facts of a file are one to two times as long as its text; longer ones are not ours.
MAX_FACTS_BYTES = 16 * MAX_FILE_BYTES


class DamagedCache(ValueError):
    """Kept facts cannot be read; everything has to be read anew."""


class CachedFile(msgspec.Struct):
    """What a build keeps of one source file: its facts, packed, and what its links depend on.

    *counts* are its nodes and edges.
    """

    hash: str
    facts: bytes
    counts: tuple[int, int] = (0, 0)
    asked: dict[str, list[str]] = {}


class BuildCache(msgspec.Struct):
    """The whole of `rag_facts.msgpack`; *graph_crc32* is that of the graph it goes with."""

    builder: str
    graph_crc32: int
    files: dict[str, CachedFile]


_pack = msgspec.msgpack.Encoder()
_facts_decoder = msgspec.msgpack.Decoder(FileFacts)
_cache_decoder = msgspec.msgpack.Decoder(BuildCache)


def encode_facts(facts: FileFacts) -> bytes:
    """The facts of one file as bytes, a third of what they would be unpacked."""
    return zlib.compress(_pack.encode(facts), 1)


def decode_facts(content: bytes) -> FileFacts:
    """The facts that `encode_facts` wrote; raise DamagedCache for anything else."""
    try:
        unpacked = zlib.decompressobj().decompress(content, MAX_FACTS_BYTES)
        return _facts_decoder.decode(unpacked)
    except (zlib.error, msgspec.DecodeError) as error:
        raise DamagedCache from error


def encode_build_cache(files: dict[str, CachedFile], graph: bytes) -> bytes:
    """What the build that wrote *graph* leaves to the next, as bytes."""
    return _pack.encode(BuildCache(BUILDER, zlib.crc32(graph), files))


def decode_build_cache(content: bytes | None, graph: bytes) -> dict[str, CachedFile]:
    """What the last build left; nothing when it is damaged or was not made with *graph*."""
    if content is None:
        return {}
    try:
        cache = _cache_decoder.decode(content)
    except msgspec.DecodeError:
        return {}
    is_ours = cache.builder == BUILDER and cache.graph_crc32 == zlib.crc32(graph)
    return cache.files if is_ours else {}
