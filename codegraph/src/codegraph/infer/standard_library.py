"""The types of the standard library, and of React and Vue, that inference needs.

Names are those of typeshed's stubs; only functions whose result depends on the type of an argument
or element are listed.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from codegraph.infer import types as ty

if TYPE_CHECKING:
    from codegraph.infer.calls import CallEvaluator

_Value = TypeVar("_Value")


def _by_word(groups: dict[str, _Value]) -> dict[str, _Value]:
    """The value of each word's group; a group is words with spaces between them."""
    return {word: value for words, value in groups.items() for word in words.split()}


_iterator, _awaitable = partial(ty.generic, "iterator"), partial(ty.generic, "awaitable")
_list, _set, _tuple, _context = (partial(ty.generic, k) for k in "list set tuple context".split())

#: The behaviour of generics that share one, and the last part, or all, of the name of each.
_GENERICS = """
list list List Sequence MutableSequence deque Deque Array ReadonlyArray
set set Set frozenset FrozenSet AbstractSet MutableSet Collection Container WeakSet ReadonlySet
iterator Iterable Iterator Reversible Generator KeysView ValuesView IterableIterator
aiterator AsyncIterable AsyncIterator AsyncGenerator
dict dict Dict Mapping MutableMapping OrderedDict defaultdict DefaultDict ChainMap Record
dict MappingProxyType WeakValueDictionary WeakKeyDictionary
map Map ReadonlyMap WeakMap
tuple tuple Tuple useState
type type Type
awaitable Awaitable Coroutine Task Future
callable Callable ref ReferenceType partial Signal WritableSignal npm:@angular/core.signal
context AbstractContextManager ContextManager
acontext AbstractAsyncContextManager AsyncContextManager
queue Queue LifoQueue PriorityQueue SimpleQueue
holder ContextVar createContext Context
reference useRef RefObject MutableRefObject Ref ShallowRef ComputedRef npm:vue.ref npm:vue.computed
component Component PureComponent
"""
_ROWS = map(str.split, _GENERICS.strip().splitlines())
_CANONICAL_GENERICS = {name: row[0] for row in _ROWS for name in row[1:]}

#: Wrappers that leave the type inside as it is; the last ones are of SQLAlchemy and Litestar.
_TRANSPARENT_GENERICS = frozenset(
    "Optional Union Annotated ClassVar Final Required NotRequired ReadOnly InitVar TypeGuard "
    "Unpack Mapped NamedDependency FromPath FromQuery".split()
)

#: Annotations without information; a `TypeAlias` has the type of the value that it is assigned.
_UNINFORMATIVE = frozenset(
    "builtins.None typing.Any builtins.object typing.TypeAlias typing_extensions.TypeAlias".split()
)


def external_instance(type_: ty.External) -> ty.Types:  # noqa: PLR0911 - a table
    """The types that an external name allows as an annotation."""
    name, arguments = type_.name, type_.arguments
    short = name.rpartition(".")[2]
    if name in _UNINFORMATIVE:
        return ()
    if short in _TRANSPARENT_GENERICS and name != short:
        return ty.union(arguments if short in ("Optional", "Union") else arguments[:1])
    if short == "Self":
        return (ty.TypeVariable("Self"),)
    kind = _CANONICAL_GENERICS.get(name) or _CANONICAL_GENERICS.get(short, name)
    if kind == "type":
        return ty.classes_of(ty.union(arguments))
    if kind in ("awaitable", "callable"):
        return ty.generic(kind, arguments[-1] if arguments else ())
    if kind == "tuple" and len(arguments) == 2 and arguments[1] == (ty.ELLIPSIS,):
        return ty.generic("list", arguments[0])
    return ty.generic(kind, *arguments)


#: Attributes of generics -> the number of the type argument that is their type.
HELD = {"reference.value": 0, "reference.current": 0, "component.props": 0, "component.state": 1}

#: The results of container methods, by behaviour and name.
METHOD_RESULTS: dict[str, Callable[[ty.Generic], ty.Types]] = _by_word(
    {
        "list.copy set.copy dict.copy set.union set.difference set.intersection": lambda s: (s,),
        "list.slice list.filter list.concat list.reverse list.sort list.toSorted": lambda s: (s,),
        "list.pop list.popleft set.pop queue.get_nowait": lambda s: s.argument(0),
        "list.at list.find list.findLast list.shift": lambda s: s.argument(0),
        "iterator.__next__ context.__enter__ awaitable.result holder.get": lambda s: s.argument(0),
        "dict.get dict.pop dict.setdefault map.get": lambda s: s.argument(1),
        "dict.keys map.keys set.keys set.values": lambda s: _iterator(s.argument(0)),
        "dict.values map.values": lambda s: _iterator(s.argument(1)),
        "dict.items map.entries": lambda s: _iterator(_tuple(s.argument(0), s.argument(1))),
        "dict.popitem": lambda s: _tuple(s.argument(0), s.argument(1)),
        "aiterator.__anext__ acontext.__aenter__": lambda s: _awaitable(s.argument(0)),
        "queue.get": lambda s: (*_awaitable(s.argument(0)), *s.argument(0)),
    }
)

#: The evaluator, the types of the first argument, those of each argument -> the result.
_Rule: TypeAlias = Callable[["CallEvaluator", ty.Types, list[ty.Types]], ty.Types]
_RULES: dict[str, _Rule] = {
    "copy.copy copy.deepcopy dataclasses.replace weakref.proxy": lambda _, first, __: first,
    "attrs.evolve useCallback npm:react.cache builtins.Promise.all": lambda _, first, __: first,
    "builtins.next random.choice useContext": lambda of, first, _: of.elements(first),
    "builtins.Promise.race builtins.Promise.any": lambda of, first, _: of.elements(first),
    "builtins.anext": lambda of, first, _: _awaitable(of.elements(first, is_async=True)),
    "builtins.max builtins.min": lambda of, first, every: (
        ty.union(every) if len(every) > 1 else of.elements(first)
    ),
    "builtins.list builtins.sorted builtins.tuple": lambda of, first, _: _list(of.elements(first)),
    "collections.deque random.sample": lambda of, first, _: _list(of.elements(first)),
    "builtins.Object.values": lambda of, first, _: _list(of.item(first, None)),
    "builtins.Object.entries": lambda of, first, _: _list(_tuple((), of.item(first, None))),
    "list.map": lambda of, first, _: _list(of.results(first)),
    "list.flatMap": lambda of, first, _: _list(of.elements(of.results(first))),
    "builtins.Array.from": lambda of, first, every: _list(
        of.results(every[1]) if every[1:] else of.elements(first)
    ),
    "builtins.set builtins.frozenset builtins.Set": lambda of, first, _: _set(of.elements(first)),
    "builtins.iter builtins.reversed": lambda of, first, _: _iterator(of.elements(first)),
    "itertools.islice itertools.cycle": lambda of, first, _: _iterator(of.elements(first)),
    "asyncio.as_completed": lambda of, first, _: _iterator(of.elements(first)),
    "builtins.filter": lambda of, _, every: _iterator(of.elements(ty.union(every[1:2]))),
    "builtins.enumerate": lambda of, first, _: _iterator(_tuple((), of.elements(first))),
    "builtins.zip": lambda of, _, every: _iterator(_tuple(*map(of.elements, every))),
    "builtins.map": lambda of, first, _: _iterator(of.results(first)),
    "builtins.dict collections.OrderedDict": lambda _, first, __: (
        tuple(part for part in first if isinstance(part, ty.Generic) and part.kind == "dict")
        or ty.generic("dict")
    ),
    # `type(name, bases, namespace)` makes a class, which is treated as its bases.
    "builtins.type": lambda _, first, every: (
        ty.flattened(every[1]) if len(every) > 1 else ty.classes_of(first)
    ),
    "itertools.chain": lambda of, _, every: _iterator(ty.union(map(of.elements, every))),
    "collections.defaultdict": lambda of, first, _: ty.generic("dict", (), of.results(first)),
    "functools.partial": lambda of, first, _: ty.generic("callable", of.results(first)),
    "useState": lambda _, first, __: _tuple(first),
    "useReducer": lambda of, first, _: _tuple(of.results(first)),
    "useMemo": lambda of, first, _: of.results(first),
    "useRef npm:vue.ref npm:vue.shallowRef": lambda _, first, __: ty.generic("reference", first),
    "npm:vue.computed": lambda of, first, _: ty.generic("reference", of.results(first)),
    # Of Angular, and of Django: what a foreign key to a class gives is an instance of it.
    "npm:@angular/core.inject get_object_or_404": lambda _, first, __: ty.instances(first),
    "ForeignKey OneToOneField": lambda _, first, __: ty.instances(first),
    "weakref.ref npm:@angular/core.signal": lambda _, first, __: ty.generic("callable", first),
    "asyncio.run": lambda of, first, _: of.awaited(first),
    "asyncio.gather": lambda of, _, every: _awaitable(_tuple(*map(of.awaited, every))),
    "asyncio.to_thread": lambda of, first, _: _awaitable(of.results(first)),
    "asyncio.wait_for asyncio.shield": lambda of, first, _: _awaitable(of.awaited(first)),
    "asyncio.create_task asyncio.ensure_future": lambda of, first, _: _awaitable(of.awaited(first)),
    "contextlib.closing contextlib.nullcontext": lambda _, first, __: _context(first),
    "contextlib.aclosing": lambda _, first, __: ty.generic("acontext", first),
    "pytest.raises": lambda _, first, __: _context(ty.generic("reference", ty.instances(first))),
}
#: The results of external functions, by full name; hooks of React are known by the last part.
FUNCTION_RESULTS = _by_word(_RULES)
#: Methods that give an instance of the class: of all classes, and of pydantic's.
CONSTRUCTORS = "__new__ model_validate model_validate_json model_construct model_copy".split()
CASTS = ("typing.cast", "typing_extensions.cast")

#: What a decorator makes of a function, by its full name or the last part.
DECORATORS = _by_word(
    {
        "builtins.property functools.cached_property abc.abstractproperty": "property",
        "enum.property types.DynamicClassAttribute": "property",
        "contextlib.contextmanager": "context",
        "contextlib.asynccontextmanager": "acontext",
        "pytest.fixture pytest_asyncio.fixture": "fixture",
        "staticmethod": "static",
        "classmethod": "class",
    }
)
ENUMS = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})
