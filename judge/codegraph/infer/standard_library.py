"""What we know of the standard library: just enough types to see through it.

Named after typeshed's stubs; only what carries the type of an argument or an element is listed.
"""


def _by_word(groups: dict[str, str]) -> dict[str, str]:
    """The group of each word."""
    return {word: group for group, words in groups.items() for word in words.split()}


#: Behaviours -> the generic names, by last part, that share them.
CANONICAL_GENERICS = _by_word(
    {
        "list": "list List Sequence MutableSequence deque Deque",
        "set": "set Set frozenset FrozenSet AbstractSet MutableSet Collection Container WeakSet",
        "iterator": "Iterable Iterator Reversible Generator KeysView ValuesView",
        "aiterator": "AsyncIterable AsyncIterator AsyncGenerator",
        "dict": (
            "dict Dict Mapping MutableMapping OrderedDict defaultdict DefaultDict "
            "MappingProxyType WeakValueDictionary WeakKeyDictionary ChainMap"
        ),
        "tuple": "tuple Tuple",
        "type": "type Type",
        "awaitable": "Awaitable Coroutine Task Future",
        "callable": "Callable ref ReferenceType partial",
        "context": "AbstractContextManager ContextManager",
        "acontext": "AbstractAsyncContextManager AsyncContextManager",
        "queue": "Queue LifoQueue PriorityQueue SimpleQueue",
        "holder": "ContextVar",
    }
)

#: Wrappers that add nothing to the type inside; the last three are Litestar's, for `Annotated`.
TRANSPARENT_GENERICS = frozenset(
    "Optional Union Annotated ClassVar Final Required NotRequired ReadOnly InitVar TypeGuard "
    "Unpack NamedDependency FromPath FromQuery".split()
)

#: What methods of a container give: one of its arguments, itself ("same"), or some of both.
CONTAINER_METHODS = _by_word(
    {
        "first argument": (
            "list.pop list.popleft set.pop iterator.__next__ awaitable.result "
            "queue.get_nowait holder.get context.__enter__"
        ),
        "same": "list.copy set.copy set.union set.difference set.intersection dict.copy",
        "second argument": "dict.get dict.pop dict.setdefault",
        "values": "dict.values",
        "keys": "dict.keys",
        "items": "dict.items",
        "item": "dict.popitem",
        "awaitable": "aiterator.__anext__ acontext.__aenter__",
        "get": "queue.get",
    }
)

#: How the type of a result follows from the arguments -> functions from outside.
FUNCTION_RESULTS = _by_word(
    {
        "same": "copy.copy copy.deepcopy dataclasses.replace weakref.proxy",
        "element": "builtins.next random.choice",
        "async element": "builtins.anext",
        "element or argument": "builtins.max builtins.min",
        "list": "builtins.list builtins.sorted builtins.tuple collections.deque random.sample",
        "set": "builtins.set builtins.frozenset",
        "iterator": "builtins.iter builtins.reversed itertools.islice itertools.cycle",
        "chain": "itertools.chain",
        "second iterator": "builtins.filter",
        "enumerate": "builtins.enumerate",
        "zip": "builtins.zip",
        "map": "builtins.map",
        "dict": "builtins.dict collections.OrderedDict",
        "defaultdict": "collections.defaultdict",
        "type": "builtins.type",
        "cast": "typing.cast typing_extensions.cast",
        "awaited": "asyncio.run",
        "awaitable": "asyncio.wait_for asyncio.shield asyncio.create_task asyncio.ensure_future",
        "context": "contextlib.closing contextlib.nullcontext",
        "acontext": "contextlib.aclosing",
        "partial": "functools.partial",
        "callable": "weakref.ref",
        "raises": "pytest.raises",
    }
)

PROPERTIES = frozenset(
    "builtins.property functools.cached_property abc.abstractproperty enum.property "
    "types.DynamicClassAttribute".split()
)
CONTEXT_MANAGERS = {
    "contextlib.contextmanager": "context",
    "contextlib.asynccontextmanager": "acontext",
}
ENUMS = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})
