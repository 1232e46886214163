"""What we know of the standard library: just enough types to see through it.

Named after typeshed's stubs; only what carries the type of an argument or an element is listed.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from judge.codegraph.infer import types as ty

if TYPE_CHECKING:
    from judge.codegraph.infer.containers import ContainerTypes

_Meaning = TypeVar("_Meaning")


def _by_word(groups: dict[str, _Meaning]) -> dict[str, _Meaning]:
    """What the group means in which each word stands."""
    return {word: meaning for words, meaning in groups.items() for word in words.split()}


def _iterator(types: ty.Types) -> ty.Types:
    return ty.generic("iterator", types)


def _awaitable(types: ty.Types) -> ty.Types:
    return ty.generic("awaitable", types)


#: Behaviours -> the generic names, by last part, that share them.
_CANONICAL_GENERICS = _by_word(
    {
        "list List Sequence MutableSequence deque Deque": "list",
        "set Set frozenset FrozenSet AbstractSet MutableSet Collection Container WeakSet": "set",
        "Iterable Iterator Reversible Generator KeysView ValuesView": "iterator",
        "AsyncIterable AsyncIterator AsyncGenerator": "aiterator",
        (
            "dict Dict Mapping MutableMapping OrderedDict defaultdict DefaultDict "
            "MappingProxyType WeakValueDictionary WeakKeyDictionary ChainMap"
        ): "dict",
        "tuple Tuple": "tuple",
        "type Type": "type",
        "Awaitable Coroutine Task Future": "awaitable",
        "Callable ref ReferenceType partial": "callable",
        "AbstractContextManager ContextManager": "context",
        "AbstractAsyncContextManager AsyncContextManager": "acontext",
        "Queue LifoQueue PriorityQueue SimpleQueue": "queue",
        "ContextVar": "holder",
    }
)

#: Wrappers that add nothing to the type inside; the last three are Litestar's, for `Annotated`.
_TRANSPARENT_GENERICS = frozenset(
    "Optional Union Annotated ClassVar Final Required NotRequired ReadOnly InitVar TypeGuard "
    "Unpack NamedDependency FromPath FromQuery".split()
)

#: These tell nothing; an alias that is declared to be one is known by what it is assigned.
_NOTHING_TOLD = frozenset(
    "builtins.None typing.Any builtins.object typing.TypeAlias typing_extensions.TypeAlias".split()
)


def external_instance(one: ty.External) -> ty.Types:  # noqa: PLR0911 - a table
    """The type that a name from outside the repository stands for in an annotation."""
    name, arguments = one.name, one.arguments
    short = name.rpartition(".")[2]
    if name in _NOTHING_TOLD:
        return ()
    if short in _TRANSPARENT_GENERICS and name != short:
        return ty.union(arguments if short in ("Optional", "Union") else arguments[:1])
    if short == "Self":
        return (ty.TypeVariable("Self"),)
    kind = _CANONICAL_GENERICS.get(short, name)
    if kind == "type":
        return ty.classes_of(ty.union(arguments))
    if kind in ("awaitable", "callable"):
        return ty.generic(kind, arguments[-1] if arguments else ())
    if kind == "tuple" and len(arguments) == 2 and arguments[1] == (ty.ELLIPSIS,):
        return ty.generic("list", arguments[0])
    return ty.generic(kind, *arguments)


#: What methods of containers give, by behaviour and name.
METHOD_RESULTS: dict[str, Callable[[ty.Generic], ty.Types]] = _by_word(
    {
        "list.copy set.copy dict.copy set.union set.difference set.intersection": lambda s: (s,),
        "list.pop list.popleft set.pop queue.get_nowait": lambda s: s.argument(0),
        "iterator.__next__ context.__enter__ awaitable.result holder.get": lambda s: s.argument(0),
        "dict.get dict.pop dict.setdefault": lambda s: s.argument(1),
        "dict.keys": lambda s: _iterator(s.argument(0)),
        "dict.values": lambda s: _iterator(s.argument(1)),
        "dict.items": lambda s: _iterator(ty.generic("tuple", s.argument(0), s.argument(1))),
        "dict.popitem": lambda s: ty.generic("tuple", s.argument(0), s.argument(1)),
        "aiterator.__anext__ acontext.__aenter__": lambda s: _awaitable(s.argument(0)),
        "queue.get": lambda s: (*_awaitable(s.argument(0)), *s.argument(0)),
    }
)

#: What is looked into -> the first argument -> all of them -> the result.
_Rule: TypeAlias = Callable[["ContainerTypes", ty.Types, list[ty.Types]], ty.Types]
_RULES: dict[str, _Rule] = {
    "copy.copy copy.deepcopy dataclasses.replace weakref.proxy": lambda _, one, __: one,
    "builtins.next random.choice": lambda of, one, _: of.elements(one),
    "builtins.anext": lambda of, one, _: _awaitable(of.elements(one, is_async=True)),
    "builtins.max builtins.min": lambda of, one, given: (
        ty.union(given) if len(given) > 1 else of.elements(one)
    ),
    "builtins.list builtins.sorted builtins.tuple collections.deque random.sample": (
        lambda of, one, _: ty.generic("list", of.elements(one))
    ),
    "builtins.set builtins.frozenset": lambda of, one, _: ty.generic("set", of.elements(one)),
    "builtins.iter builtins.reversed itertools.islice itertools.cycle": (
        lambda of, one, _: _iterator(of.elements(one))
    ),
    "builtins.filter": lambda of, _, given: _iterator(of.elements(ty.union(given[1:2]))),
    "builtins.enumerate": lambda of, one, _: _iterator(ty.generic("tuple", (), of.elements(one))),
    "builtins.zip": lambda of, _, given: _iterator(ty.generic("tuple", *map(of.elements, given))),
    "builtins.map": lambda of, one, _: _iterator(of.results(one)),
    "builtins.dict collections.OrderedDict": lambda _, one, __: (
        tuple(part for part in one if isinstance(part, ty.Generic) and part.kind == "dict")
        or ty.generic("dict")
    ),
    # With three arguments a new class, which is as good as its bases.
    "builtins.type": lambda _, one, given: (
        ty.unpacked(given[1]) if len(given) > 1 else ty.classes_of(one)
    ),
    "itertools.chain": lambda of, _, given: _iterator(ty.union(map(of.elements, given))),
    "collections.defaultdict": lambda of, one, _: ty.generic("dict", (), of.results(one)),
    "functools.partial": lambda of, one, _: ty.generic("callable", of.results(one)),
    "weakref.ref": lambda _, one, __: ty.generic("callable", one),
    "asyncio.run": lambda of, one, _: of.awaited(one),
    "asyncio.wait_for asyncio.shield asyncio.create_task asyncio.ensure_future": (
        lambda of, one, _: _awaitable(of.awaited(one))
    ),
    "contextlib.closing contextlib.nullcontext": lambda _, one, __: ty.generic("context", one),
    "contextlib.aclosing": lambda _, one, __: ty.generic("acontext", one),
    "pytest.raises": lambda _, one, __: ty.generic(
        "context", ty.generic("raised", ty.instances(one))
    ),
}
#: What functions from outside give.
FUNCTION_RESULTS = _by_word(_RULES)
CASTS = ("typing.cast", "typing_extensions.cast")

PROPERTIES = frozenset(
    "builtins.property functools.cached_property abc.abstractproperty enum.property "
    "types.DynamicClassAttribute".split()
)
CONTEXT_MANAGERS = {
    "contextlib.contextmanager": "context",
    "contextlib.asynccontextmanager": "acontext",
}
ENUMS = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})
