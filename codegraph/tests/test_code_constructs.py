"""One small repository for each Python construct through which a symbol can be used.

A line that ends in `# use` is an exact use of the symbol in the case's title, one that ends in
`# inferred` an inferred one, through an undeclared result; no other line is a use.
"""

import sys

import pytest
from marked_lines import cases, marked, sure_uses

CASES = """
=== a function called in its module, and 4 more | a.f
--- a.py
from typing import Any
def f(): ...
# a function called in its module
f()  # use
# a function shadowed by a parameter and a local
def g(f):
    return f()
def h():
    f = 1
    return f
def i():
    return f  # use
# a class body looks outside for what it has not bound yet
class A:
    x = f()  # use
    def f(self): ...
    y = f
# conditional definitions are one symbol
try:
    from fast import f
except ImportError:
    f()  # use
# declared, defined and assigned in another scope
f: Any  # use
x: Any = None
def g():
    return f()  # use
=== a name rebound between two uses, and 24 more | a.A.m
--- a.py
from typing import Annotated, Any, AsyncIterator, Callable, Generator, Iterable, List, NamedTuple
from typing import Optional, Sequence, Type, TypeAlias, TypeVar, Union, cast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from asyncio import Queue
from collections import defaultdict
from contextlib import AbstractContextManager
import asyncio
import other
import functools
class A:
    def m(self): ...
# a name rebound between two uses, and 3 more
class B:
    def m(self): ...
# a name rebound between two uses
def g(flag):
    x = A()
    x.m()  # use
    x = B()
    x.m()
# both branches of an if
def g(flag):
    if flag:
        x = A()
        x.m()  # use
    else:
        x = B()
        x.m()
    x.m()  # use
# a branch that returns does not reach the end
def g(flag):
    x = B()
    if flag:
        x = A()
        return x.m()  # use
    return x.m()
# a union of classes in isinstance
class C: ...
def g(x: A | C, y):
    if isinstance(x, A | B):
        x.m()  # use
    if isinstance(y, A | int):
        y.m()  # use
# annotations of every form
def g(a: A, b: "A", c: Optional[A], d: "A | None", e: Union[int, "A"], f: Annotated[A, "x"]):
    a.m()  # use
    b.m()  # use
    c.m()  # use
    d.m()  # use
    e.m()  # use
    f.m()  # use
# aliases of types
One = Union["A", int]
Two: TypeAlias = "A | None"
def g(x: One, y: Two):
    x.m()  # use
    y.m()  # use
# elements of containers
def g(xs: list[A], d: dict[str, A], it: Iterable[A], t: tuple[int, A], u: tuple[A, ...]):
    for x in xs:
        x.m()  # use
    for i, x in enumerate(xs):
        x.m()  # use
    for k, v in d.items():
        v.m()  # use
    for v in d.values():
        v.m()  # use
    xs[0].m()  # use
    xs.pop().m()  # use
    d["k"].m()  # use
    d.get("k").m()  # use
    next(iter(it)).m()  # use
    t[1].m()  # use
    n, a = t
    a.m()  # use
    u[5].m()  # use
    [x.m() for x in sorted(xs)]  # use
    {x.m() for x, y in zip(xs, xs)}  # use
    first, *rest = xs
    rest[0].m()  # use
    max(xs).m()  # use
# async functions
async def make() -> A: ...
async def made():
    return A()
async def stream():
    yield A()
class Soon:
    def __await__(self) -> "Generator[int, None, A]": ...
async def g():
    (await make()).m()  # use
    (await made()).m()  # inferred
    async for a in stream():
        a.m()  # inferred
    task = asyncio.create_task(make())
    (await task).m()  # use
    [a.m() async for a in stream()]  # inferred
    (await asyncio.wait_for(make(), 1)).m()  # use
asyncio.run(make()).m()  # use
# awaiting our own object
class Soon:
    def __await__(self) -> Generator[Any, None, A]: ...
async def g():
    (await Soon()).m()  # use
# a decorator that gives back what it is given
class Shape:
    def m(self): ...
T = TypeVar("T", bound=Shape)
def same(function: T) -> T: ...
def factory(name) -> Callable[[T], T]: ...
@same
@factory("x")
def f() -> A: ...
f().m()  # use
# dataclasses and named tuples
@dataclass
class D:
    a: A
class N(NamedTuple):
    a: A
D(A()).a.m()  # use
replace(D(A())).a.m()  # use
N(A()).a.m()  # use
# generic functions
T = TypeVar("T")
S = TypeVar("S", bound="A")
def same(x: T) -> T: ...
def made(cls: type[T]) -> T: ...
def first(xs: Sequence[T]) -> T: ...
def called(f: Callable[[], T]) -> T: ...
def bounded(x: S):
    x.m()  # use
same(A()).m()  # use
made(A).m()  # use
first([A()]).m()  # use
called(A).m()  # use
cast("A", 1).m()  # use
# generic aliases
T = TypeVar("T")
Many = list[T]
Seq = List
def g(xs: Many[A], ys: Seq[A], odd: "A |", none: None, lit: "T | A"):
    xs[0].m()  # use
    ys[0].m()  # use
    odd.m()
    none.m()
    lit.m()  # use
class Kind:
    cls: type[A]
    outside: type[int]
    def make(self):
        self.outside().m()
        return self.cls().m()  # use
# a type variable that stands for one of several types
class B:
    def m(self): ...
Either = TypeVar("Either", A, "B")
def f(x: Either) -> Either:
    x.m()  # use
    return x
f(B()).m()
# an instance of a generic class from outside, with its arguments
Kept = dict[str, A]
async def f(queue=Queue[A]()):
    (await queue.get()).m()  # use
defaultdict[str, list[A]](list)["x"][0].m()  # use
Kept()["x"].m()  # use
# a TypeVar made by something that is none
def maker(name): ...
T = maker("T")
def g(x: T):
    x.m()
# a property of our own descriptor
class prop(property):
    def __get__(self, *args): ...
class B:
    @prop
    def p(self) -> A: ...
    @other.prop("x")
    def q(self) -> A: ...
    @(lambda f: f)
    def r(self) -> A: ...
B().p.m()  # use
B().r().m()  # use
# more of the standard library's containers
class Managed(AbstractContextManager[A]): ...
async def g(d: dict[A, A], s: set[A], it: AsyncIterator[A], xs: list[A]):
    for k in d.keys():
        k.m()  # use
    k, v = d.popitem()
    v.m()  # use
    d.copy()[1].m()  # use
    dict(d)[1].m()  # use
    s.union(s).pop().m()  # use
    (await anext(it)).m()  # use
    (await it.__anext__()).m()  # use
    for a in filter(None, xs):
        a.m()  # use
    with Managed() as b:
        b.m()  # use
    with open("x") as file:
        file.m()
    dict()[1].m()
    5[0].m()
    xs[1:][0].m()  # use
# a variable declared as anything takes what is assigned
def g():
    x: Any = A()
    x.m()  # use
    x = A()
    x.m()  # use
# except with nothing and try with stars
def g():
    try:
        x = A()
    except:
        raise
    x.m()  # use
    try:
        x.m()  # use
    except* ValueError:
        pass
# keyword defaults, closures and f-strings
def g(*, x: A = None):
    def inner():
        return x.m()  # use
    f"{x.m()}"  # use
    lambda: x.m()  # use
    return inner
# an attribute of unknown type is no exact use
def g(x):
    x.m()
# calling an instance
class Maker:
    def __call__(self) -> A: ...
Maker()().m()  # use
functools.partial(Maker())().m()  # use
for a in map(Maker(), [1]):
    a.m()  # use
# the parts of a named tuple
class Pair(NamedTuple):
    first: int
    second: A
    def swapped(self):
        first, second = self
        return second.m()  # use
class More(Pair): ...
def f(pairs: Iterable[Pair], pair: Pair, more: More):
    for first, second in pairs:
        second.m()  # use
        first.m()
    pair[1].m()  # use
    pair[-1].m()  # use
    more[1].m()  # use
    _, (_, second) = 1, pair
    second.m()  # use
    pair[9].m()
=== break and continue carry what they saw, and 17 more | a.A.m
--- a.py
class A:
    def m(self): ...
# break and continue carry what they saw
def g(items):
    x = None
    while items:
        if items.pop():
            x = A()
            continue
        x = A()
        break
    x.m()  # use
# try, except and finally
class Broken(Exception):
    def m(self): ...
def g():
    try:
        x = A()
    except Broken as error:
        error.m()
        raise
    else:
        x.m()  # use
    finally:
        print(x)
    x.m()  # use
# every branch of a try ends
def g():
    x = A()
    try:
        return x.m()  # use
    except ValueError:
        raise
    finally:
        x.m()  # use
# an attribute declared in the class
class B:
    a: A
    def g(self):
        return self.a.m()  # use
class C(B):
    def h(self):
        return self.a.m()  # use
# inheritance, and an override in between
class B(A): ...
class C(B):
    def m(self):
        super().m()  # use
B().m()  # use
C().m()
# elements of displays
for x in [A(), A()]:
    x.m()  # use
{"k": A()}["k"].m()  # use
for y in {A()}:
    y.m()  # use
(1, A())[1].m()  # use
[z for z in (A(),)][0].m()  # use
{k: A() for k in "ab"}["a"].m()  # use
# classes that derive from containers
class As(list[A]): ...
As()[0].m()  # use
As().pop().m()  # use
# our own containers
class Bag:
    def __iter__(self):
        yield A()
    def __getitem__(self, key) -> A: ...
class Cursor:
    def __iter__(self): return self
    def __next__(self) -> A: ...
for a in Bag():
    a.m()  # use
for a in Cursor():
    a.m()  # inferred
Bag()["k"].m()  # use
# declared and inferred results
def declared() -> A: ...
def inferred(flag):
    if flag:
        return None
    return A()
def passed_on():
    return inferred(1)
declared().m()  # use
passed_on().m()  # inferred
# generators
def many():
    yield A()
def more():
    yield from many()
for a in more():
    a.m()  # inferred
# nonlocal, two functions further out
class B: ...
def outer():
    one = A()
    def middle():
        def inner():
            nonlocal one
            one = B()
        one.m()  # use
# global and nonlocal
current = None
def start():
    global current
    current = A()
def use():
    current.m()  # use
def outer():
    inner = None
    def change():
        nonlocal inner
        inner = A()
    return inner.m()
# a class made by `type` with its bases
    def join(self): ...
def make(name, **members):
    return type(str(name), (A,), members)
type("B", (A,), {})().m()  # use
make("B")().m()  # inferred
type(A())().m()  # use
# walrus
def g(xs: list[A]):
    if (a := A()) and a.m():  # use
        a.m()  # use
    [b.m() for x in xs if (b := x)]  # use
# a class whose base is said by an expression
def base() -> type[A]: ...
def untold():
    return A
class B(base()): ...
class C(untold()): ...
def extended(parent: type[A] = A):
    class D(parent):
        def n(self):
            return super().m()  # use
B().m()  # use
C().m()  # inferred
# super in odd places
class B(A):
    def m(self):
        def inner():
            return super().m()  # use
        return inner
    @classmethod
    def k(cls):
        return super().m()  # use
super().m()
def f():
    return super().m()
# definitions and lambdas inside loops
for _ in "ab":
    def f(x=A()):
        return x.m()  # use
    class K:
        y = A()
    K.y.m()  # use
    h = lambda x=A().m(): x  # use
else:
    A().m()  # use
# or, conditional expressions and defaults
def g(x=None, y=A(), *args: A, **kwargs: A):
    x = x or A()
    x.m()  # use
    y.m()  # use
    (A() if x else None).m()  # use
    args[0].m()  # use
    kwargs["k"].m()  # use
=== the class of a caught error | a.Broken.m
--- a.py
class Broken(Exception):
    def m(self): ...
def g():
    try:
        pass
    except (Broken, ValueError) as error:
        error.m()  # use
=== from-import with an alias | a.f
--- a.py
def f(): ...
--- b.py
from a import f as g  # use
g()  # use
--- c.py
from b import g  # use
g()  # use
=== relative imports of both kinds | pkg.a.f
--- pkg/__init__.py
--- pkg/a.py
def f(): ...
--- pkg/sub/__init__.py
from ..a import f  # use
from .. import a
a.f()  # use
=== re-export through a package | pkg._a.f
--- pkg/__init__.py
from ._a import f as f  # use
__all__ = ["f"]
--- pkg/_a.py
def f(): ...
--- b.py
import pkg
from pkg import f  # use
f()  # use
pkg.f()  # use
=== star import takes what __all__ names | a.f
--- a.py
__all__ = ["f"]
__all__ += ["h"]
def f(): ...
def g(): ...
--- b.py
from a import *
f()  # use
--- c.py
from b import *
f()  # use
=== star import leaves out what __all__ leaves out | a.g
--- a.py
__all__ = ["f"]
def f(): ...
def g(): ...
--- b.py
from a import *
g()
=== star import without __all__ leaves out underscores | a._f
--- a.py
def _f(): ...
--- b.py
from a import *
_f()
=== star import takes what is added to __all__ by a call | a.f
--- a.py
__all__ = ["g"]
__all__.extend(("h", "i"))
__all__.append("f")
def f(): ...
--- b.py
from a import *
f()  # use
=== star import takes every public name where __all__ is computed | pkg.f
--- pkg/__init__.py
from . import _a
from ._a import *
__all__ = [*_a.__all__, "g"]
--- pkg/_a.py
__all__ = ["f"]
def f(): ...
--- b.py
from pkg import *
f()  # use
=== import in a type-checking block | a.A.m
--- a.py
class A:
    def m(self): ...
--- b.py
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from a import A
def g(x: "A"):
    x.m()  # use
=== src layout and tests beside it | pkg.a.f
--- src/pkg/__init__.py
--- src/pkg/a.py
def f(): ...
--- tests/test_a.py
from pkg.a import f  # use
f()  # use
=== namespace packages | ns.pkg.a.f
--- ns/pkg/a.py
def f(): ...
--- b.py
import ns.pkg.a
ns.pkg.a.f()  # use
=== scripts that share a name belong to their folders | one.lib.f
--- one/lib.py
def f(): ...
--- one/main.py
from lib import f  # use
--- two/lib.py
def f(): ...
--- two/main.py
from lib import f
=== a variable declared before it is defined | a.f.now
--- a.py
from collections.abc import Callable
def f(flag):
    now: Callable[[], int]  # use
    if flag:
        def now(): ...
    else:
        def now(): ...
    return lambda: now()  # use
=== a circle of imports | a.f
--- a.py
from b import g
def f(): ...
--- b.py
from a import f, g  # use
=== self and an instance's own attribute | a.A.m
--- a.py
class A:
    def m(self): ...
    def n(self):
        self.m()  # use
class B:
    def __init__(self):
        self.a = A()
    def m(self):
        self.a.m()  # use
        self.m()
=== an attribute assigned and then narrowed | a.A.m
--- a.py
class Base:
    def m(self): ...
class A(Base):
    def m(self): ...
class B:
    def __init__(self, flag):
        self.x: Base = A()
        self.x.m()  # use
    def g(self):
        self.x.m()
=== method resolution order of a diamond | a.Left.m
--- a.py
class Top:
    def m(self): ...
class Left(Top):
    def m(self):
        return super().m()
class Right(Top):
    def m(self): ...
class Bottom(Left, Right): ...
Bottom().m()  # use
=== class and static methods | a.A.make
--- a.py
class A:
    @classmethod
    def make(cls):
        return cls()
    @staticmethod
    def other():
        return A.make()  # use
    def m(self):
        return type(self).make()  # use
A.make().m()  # use
=== properties with setters | a.A.p
--- a.py
class B:
    def m(self): ...
class A:
    @property
    def p(self) -> B: ...
    @p.setter  # use
    def p(self, value): ...
A().p.m()  # use
A().p = 1  # use
=== what a property returns | a.B.m
--- a.py
from functools import cached_property
class B:
    def m(self): ...
class A:
    @property
    def p(self) -> B: ...
    @cached_property
    def q(self):
        return B()
A().p.m()  # use
A().q.m()  # inferred
=== the names in annotations are uses | a.A
--- a.py
from typing import cast, Literal
class A: ...
def g(x: "list[A]", y: A = None) -> "A":  # use
    z: A = cast("A", x)  # use
    return z
=== context managers | a.A.m
--- a.py
from contextlib import asynccontextmanager, closing, contextmanager
class A:
    def __enter__(self): return self
    def __exit__(self, *a): ...
    async def __aenter__(self): return self
    async def __aexit__(self, *a): ...
    def m(self): ...
@contextmanager
def managed():
    yield A()
@asynccontextmanager
async def amanaged():
    yield A()
async def g():
    with A() as a:
        a.m()  # inferred
    with managed() as b, closing(A()) as c:
        b.m()  # inferred
        c.m()  # use
    async with A() as d:
        d.m()  # inferred
    async with amanaged() as e:
        e.m()  # inferred
=== Self and the receiver's class | a.B.m
--- a.py
from typing import Self
class A:
    def one(self) -> Self: ...
    def two(self):
        return self
class B(A):
    def m(self): ...
B().one().two().m()  # inferred
=== decorators leave the function's name, and 1 more | a.f
--- a.py
import functools
# decorators leave the function's name
def deco(g):
    @functools.wraps(g)
    def inner(*a):
        return g(*a)
    return inner
@deco
@functools.lru_cache
def f(): ...
f()  # use
# a function that is wrapped and keeps its name
def f(): ...
f = functools.lru_cache(f)  # use
f()  # use
def g():
    return f()  # use
=== classes inside functions and functions inside classes | a.f.Inner.m
--- a.py
def f():
    class Inner:
        def m(self):
            def deep():
                return self.m()  # use
            return deep
    Inner().m()  # use
    return Inner
def m(): ...
m()
=== a global import | a.f
--- a.py
def f(): ...
--- b.py
def load():
    global f  # use
    from a import f  # use
def use():
    return f()  # use
=== isinstance narrowing, and 3 more | a.B.m
--- a.py
class A:
    def m(self): ...
class B(A):
    def m(self): ...
# isinstance narrowing
class C(A):
    def m(self): ...
def g(x: A, y, z: "B | C"):
    if isinstance(x, B):
        x.m()  # use
    else:
        x.m()
    if not isinstance(y, (B, int)):
        return
    y.m()  # use
    if isinstance(z, C):
        z.m()
    else:
        z.m()  # use
    isinstance(x, B) and x.m()  # use
    x.m() if isinstance(x, B) else None  # use
    assert isinstance(x, B)
    x.m()  # use
# narrowing by type, of attributes and in or
class H:
    a: A
def g(h: H, x: A):
    if type(x) is B:
        x.m()  # use
    if isinstance(h.a, B):
        h.a.m()  # use
    h.a.m()
    not isinstance(x, B) or x.m()  # use
# an attribute is forgotten with its object
class H:
    a: A
def g(h: H):
    h.a = B()
    h.a.m()  # use
    h = H()
    h.a.m()
# narrowing that tells nothing or everything
class C:
    def m(self): ...
def g(b: B, c: "B | C", other, k):
    if isinstance(b, other):
        b.m()  # use
    if isinstance(b, A):
        b.m()  # use
    if isinstance(c, (B, C)):
        c.m()  # use
    if isinstance(y := k, B):
        y.m()  # use
    if isinstance(b, C):
        b.m()
=== isinstance of something from outside | a.B.m
--- a.py
class A:
    def m(self): ...
class B(dict):
    def m(self): ...
def g(x: "A | B", y: A):
    if isinstance(x, dict):
        x.m()  # use
    if isinstance(y, str):
        y.m()
=== match statements | a.B.m
--- a.py
class A:
    def m(self): ...
class B(A):
    b: "B"
    def m(self): ...
def g(x: A):
    match x:
        case B(b=inner) as y if y.m():  # use
            x.m()  # use
            inner.m()  # use
        case A() | None:
            pass
        case [*rest]:
            pass
        case _:
            x.m()
=== a name for the rest of a mapping | a.rest
--- a.py
def rest(): ...
def g(x):
    match x:
        case {"a": 1, **rest}:
            rest()
def h(x):
    match x:
        case {"a": 1, **other}:
            rest()  # use
=== enumerations | a.Colour.m
--- a.py
from enum import Enum
class Colour(Enum):
    RED = 1
    def m(self): ...
Colour.RED.m()  # use
for c in Colour:
    c.m()  # use
Colour("x").m()  # use
=== a member of an enumeration in a Literal | a.Colour.RED
--- a.py
from enum import Enum
from typing import Literal
class Colour(Enum):
    RED = 1
    BLUE = 2
def alone(x: Literal[Colour.RED]): ...  # use
def first(x: Literal[Colour.RED, Colour.BLUE, "Colour.RED"]): ...  # use
=== generic classes, and 1 more | a.A.m
--- a.py
from typing import Generic, TypeVar
# generic classes
T = TypeVar("T")
class A:
    def m(self): ...
class Box(Generic[T]):
    item: T
    def __init__(self, item: T) -> None: ...
    def get(self) -> T: ...
class ABox(Box[A]): ...
def g(b: Box[A]):
    b.get().m()  # use
    b.item.m()  # use
Box(A()).get().m()  # use
ABox(1).get().m()  # use
Box[A](1).get().m()  # use
# type variables matched inside other types
T = TypeVar("T")
class A:
    def m(self): ...
class Box(Generic[T]):
    def get(self) -> T: ...
def unboxed(b: Box[T], plain: int, free=1) -> T: ...
def g(b: Box[A]):
    unboxed(b, 1, 2).m()  # use
=== exports that are declared or odd | a.f
--- a.py
__all__: list[str] = ["f", *other, 1]
def f(): ...
def g(): ...
--- b.py
from a import *
f()  # use
g()
=== a base class that is computed, and 1 more | a.A
--- a.py
class A: ...
# a base class that is computed
def base(x): ...
class B(base(A)): ...  # use
class C((A, A)[0]): ...  # use
# a base class is a use
class B(A): ...  # use
class C(dict[str, A]): ...  # use
=== chains of names in annotations | pkg.a.A.B.m
--- pkg/a.py
class A:
    class B:
        def m(self): ...
--- b.py
import pkg.a
import pkg
import elsewhere
x = 1
def g(a: pkg.a.A.B, b: elsewhere.a.A.B, c: x.A.B, d: (1).B):
    a.m()  # use
    b.m()
    c.m()
    d.m()
=== imports from a package in itself | pkg.a
--- pkg/__init__.py
from pkg import a, missing  # use
from . import *
--- pkg/a.py
--- pkg/c.py
from nowhere import *
thing()
=== holders from the standard library | a.A.m
--- a.py
from asyncio import Queue
from collections import defaultdict, deque
from contextvars import ContextVar
from copy import copy
from itertools import chain
import sys

import pytest
class A(Exception):
    def m(self): ...
var: ContextVar[A] = ContextVar("var")
async def g(q: Queue[A], d: deque[A]):
    var.get().m()  # use
    (await q.get()).m()  # use
    d.popleft().m()  # use
    copy(A()).m()  # use
    by = defaultdict(A)
    by["k"].m()  # use
    for a in chain([A()], [A()]):
        a.m()  # use
    with pytest.raises(A) as caught:
        pass
    caught.value.m()  # use
=== one name defined or assigned | a.f
--- a.py
import sys
f = None  # use
print(f)  # use
if sys.platform == "win32":
    def f(): ...
else:
    f = print  # use
def g():
    f = 1
    return f
for f in range(3):  # use
    print([f for f in g()])
=== a parameter that a function takes the place of | a.g.f
--- a.py
def g(f=None):
    if f is None:  # use
        def f(): ...
    f()  # use
=== a subclass assigns to a property of its base | a.A.p
--- a.py
class A:
    @property
    def p(self): ...
    @p.setter  # use
    def p(self, v): ...
class B(A):
    def __init__(self, p):
        self.p = p  # use
    def q(self):
        return self.p  # use
B(1).p  # use
=== a subclass assigns over a method of its base | a.A.m
--- a.py
class A:
    n = None
    def m(self): ...
class B(A):
    def __init__(self, m):
        self.n = A()
        self.m = m  # use
    def q(self):
        self.n.m()  # use
        return self.m()  # use
=== the class of an object | a.A.m
--- a.py
class A:
    def m(self): ...
    def __new__(cls):
        made = super().__new__(cls)
        made.m()  # use
        return made
    def go(self):
        self.__class__.m(self)  # use
        self.__class__().m()  # use
        self.__class__.__new__(self.__class__).m()  # inferred
=== what a class method makes belongs to the class that is asked | a.B.m
--- a.py
class A:
    @classmethod
    def make(cls):
        made = cls()
        return made
    def copy(self):
        return type(self)()
    def m(self): ...
class B(A):
    def m(self): ...
B.make().m()  # inferred
B().copy().m()  # inferred
B().make().m()  # inferred
A.make().m()
A.copy(B()).m()
=== types that depend on one another in a circle | a.A.m
--- a.py
class A:
    def child(self) -> "tuple[int, A]": ...
    def m(self): ...
class C:
    def __init__(self, a: A):
        self.a = a
    def sub(self) -> "C": ...
def g(c: C):
    while c:
        a = c.a
        number, child = a.child()
        child.m()  # use
        with child.child() as a:
            c = C(child)
            c.a.m()  # use
=== a submodule that nobody imported by name | pkg.a.f
--- pkg/__init__.py
--- pkg/a.py
def f(): ...
--- b.py
import pkg
pkg.a.f()  # use
--- c.py
import pkg.a
pkg.a.f()  # use
--- d.py
import pkg.a as short
import pkg
pkg.a.f()  # use
--- e.py
from pkg import a
a.f()  # use
=== fixtures of pytest, found by name | app.A.m
--- app.py
class A:
    def m(self): ...
class B:
    def m(self): ...
--- tests/conftest.py
import sys

import pytest
from pytest_asyncio import fixture
from app import A, B
@pytest.fixture
def made():
    return A()
@pytest.fixture()
def open_a():
    a = A()
    yield a
@fixture
async def coming():
    return A()
@fixture
async def stream():
    yield A()
@pytest.fixture
def declared() -> A: ...
@pytest.fixture
def near():
    return B()
@pytest.fixture
def passed_on(made):
    return made
def plain():
    return A()
--- tests/unit/conftest.py
import sys

import pytest
from app import A
@pytest.fixture
def near():
    return A()
@pytest.fixture
def made(made):
    made.m()  # inferred
    return made
--- tests/unit/test_a.py
import sys

import pytest
from app import A, B
def test_all(made, open_a, coming, stream, declared, near, passed_on, plain, other):
    made.m()  # inferred
    open_a.m()  # inferred
    coming.m()  # inferred
    stream.m()  # inferred
    declared.m()  # inferred
    near.m()  # inferred
    passed_on.m()  # inferred
    plain.m()
    other.m()
@[print][0]
@print
def helper(made):
    made.m()
class TestIt:
    @pytest.fixture
    def made(self):
        return B()
    @pytest.fixture
    def own(self):
        return A()
    def test_it(self, made, own):
        made.m()
        own.m()  # inferred
--- tests/test_b.py
def test_b(near):
    near.m()
@print("decorated")
def test_c(made):
    made.m()  # inferred
=== fixtures of pytest that have another name | app.A.m
--- app.py
class A:
    def m(self): ...
class B:
    def m(self): ...
--- conftest.py
import sys

import pytest
from app import A, B
NAME = "computed"
@pytest.fixture(name="renamed", scope="session")
def _renamed():
    return A()
@pytest.fixture
def near():
    return B()
@pytest.fixture(name=NAME)
def _computed():
    return A()
@print(name="plain")
def _plain():
    return A()
--- test_a.py
import pytest
from app import A, B
@pytest.fixture(name="near")
def _near(renamed):
    renamed.m()  # inferred
    yield A()
@pytest.fixture(name="other")
def hidden():
    return A()
def test_all(renamed, near, computed, plain, other):
    renamed.m()  # inferred
    near.m()  # inferred
    computed.m()
    plain.m()
    other.m()  # inferred
class TestIt:
    @pytest.fixture(name="renamed")
    def make(self):
        return B()
    def test_it(self, renamed, other):
        renamed.m()
        other.m()  # inferred
=== an instance attribute that holds a function is no method | a.A.m
--- a.py
class A:
    def __init__(self):
        def m(): ...
        self.m = m  # use
    def m(self): ...
def f(): ...
class B:
    def __init__(self):
        self.m = f
A().m()  # use
B().m()
--- b.py
from a import A
A().m()  # use
=== a fixture of pytest, where it is asked for | tests.conftest.account
--- tests/conftest.py
import pytest
@pytest.fixture
def account(): ...
@pytest.fixture
def bank(account, other=None):  # inferred
    return account
def helper(account): ...
--- tests/test_a.py
import pytest
def test_one(account, tmp_path):  # inferred
    account.open()
@pytest.mark.usefixtures("account")  # inferred
class TestIt:
    def test_two(self, account): ...  # inferred
    def check(self, account): ...
def test_three(request):
    request.getfixturevalue("account")  # inferred
@pytest.mark.parametrize("number,account", [(1, None)])
def test_given(number, account): ...
@pytest.mark.parametrize(["account"], [(1,)], indirect=True)
def test_indirect(account): ...  # inferred
--- tests/unit/test_b.py
import pytest
@pytest.fixture
def account(account):  # inferred
    return account
def test_four(account): ...
=== super after a class that is named | a.Base.m
--- a.py
class Base:
    def m(self): ...
class Middle(Base):
    def m(self): ...
class Leaf(Middle):
    def m(self):
        super(Middle, self).m()  # use
        super(Leaf, self).m()
=== what several tasks give | a.Page.text
--- a.py
import asyncio
from dataclasses import dataclass
@dataclass
class Page:
    text: str
class Other:
    text: str
async def load() -> Page: ...
async def other() -> Other: ...
def read() -> Page: ...
async def f(urls):
    first, second = await asyncio.gather(load(), other())
    first.text  # use
    second.text
    [p.text for p in await asyncio.gather(*(load() for u in urls))]  # use
    for soon in asyncio.as_completed([load()]):
        (await soon).text  # use
    (await asyncio.to_thread(read)).text  # use
=== instances that libraries make of a class | a.User.name
--- a.py
import attrs
from django.db import models
from django.shortcuts import get_object_or_404
from pydantic import BaseModel
class User(BaseModel):
    name: str
class Post(models.Model):
    author = models.ForeignKey(User, on_delete=models.CASCADE)
    editor = models.ForeignKey("User")
    def by(self):
        return self.author.name + self.editor.name  # use
def f(request, user: User):
    get_object_or_404(User, pk=1).name  # use
    User.model_validate({}).name  # use
    user.model_copy(update={}).name  # use
    attrs.evolve(user, name="x").name  # use
    User.other({}).name
=== a parameter whose type a web framework wraps | a.Store.save
--- a.py
class Store:
    def save(self): ...
--- b.py
from litestar.di import NamedDependency
from a import Store
async def handle(store: NamedDependency[Store]):
    store.save()  # use
=== a mapped attribute of SQLAlchemy | a.Address.street
--- a.py
from sqlalchemy.orm import DeclarativeBase, Mapped
class Address(DeclarativeBase):
    street: Mapped[str]
class User(DeclarativeBase):
    street: Mapped[str]
    main: Mapped[Address]
    every: Mapped[list["Address"]]
    user: Mapped["User"]
def f(user: User):
    user.street
    user.user.street
    return user.main.street == user.every[0].street  # use
=== a constant of a module, here and elsewhere | a.LIMIT
--- a.py
LIMIT = 3
def f(n=LIMIT):  # use
    return n < LIMIT  # use
def g(LIMIT):
    return LIMIT
def h():
    LIMIT = 4
    return LIMIT
--- b.py
from a import LIMIT as most  # use
import a
print(most, a.LIMIT)  # use
a.OTHER = 2
--- c.py
from a import *
print(LIMIT)  # use
=== a variable that is assigned again | a.state
--- a.py
state = None
def set_state(value):
    global state  # use
    state = value  # use
state = 5  # use
for item in state:  # use
    pass
=== a variable that a test narrowed | a.value
--- a.py
value = load()
if isinstance(value, str):  # use
    print(value.strip())  # use
def f():
    if isinstance(value, str) and not isinstance(value, Text):  # use
        return value  # use
    match value:  # use
        case int():
            return value + 1  # use
=== a name that is imported or else assigned is one symbol, the import | b.fast
--- b.py
def fast(): ...
--- a.py
try:
    from b import fast  # use
except ImportError:
    fast = None  # use
print(fast)  # use
=== a subclass assigns to what its base declares | a.A.link
--- a.py
class A:
    def __init__(self):
        self.link: int | None = None
--- b.py
from a import A
class B(A):
    def cut(self):
        self.link = None  # use
class C(B):
    link = 3
--- c.py
from b import B, C
def f(b: B, c: C):
    return b.link or c.link  # use
def g(c: C):
    return c.link
=== an attribute that has a slot | a.A.size
--- a.py
class A:
    __slots__ = (
        "other",
        "size",  # use
    )
    def __init__(self):
        self.size = 1
class B(A):
    __slots__ = "size"  # use
    def m(self):
        return self.size  # use
=== an attribute that a method gives itself | a.A.name
--- a.py
class A:
    def __init__(self, name):
        self.name = name
    def rename(self, name):
        self.name = name  # use
def f(a: A, b):
    return a.name + b.name  # use
=== a keyword of a constructor that is written elsewhere | a.Scope.shield
--- a.py
class Scope:
    def __new__(cls, shield): ...
    shield = False
class Loop:
    shield = False
    def shield(self): ...
Scope(shield=True)
Loop(shield=True)
=== a field of a dataclass, by attribute and keyword, and 1 more | a.Point.x
--- a.py
from dataclasses import dataclass
# a field of a dataclass, by attribute and keyword
@dataclass
class Point:
    x: int
    y: int = 0
class Other:
    def __init__(self, x):
        self.x = x
point = Point(x=1)  # use
Point(y=2)
Other(x=3)
point.x  # use
dict(x=1)
# a field of a dataclass in a pattern
@dataclass
class Point:
    x: int
def f(thing):
    match thing:
        case Point(x=1):  # use
            pass
        case [Point(x=found)]:  # use
            return found
=== a field of a pydantic model that is inherited | a.Base.id
--- a.py
from pydantic import BaseModel
class Base(BaseModel):
    id: str
class Child(Base):
    name: str
def f(child: Child):
    Child(id="1", name="x")  # use
    return child.id  # use
=== a member of an enumeration | a.Colour.RED
--- a.py
from enum import Enum
class Colour(Enum):
    RED = 1
    BLUE = 2
    def is_warm(self):
        return self is Colour.RED  # use
def f(colour: Colour):
    return colour == Colour.RED or Colour.BLUE  # use
print(Colour.RED.value)  # use
Colour["RED"]  # use
{"RED": 1}["RED"]
=== a key of a typed dictionary | a.Movie.title
--- a.py
from typing import TypedDict
class Movie(TypedDict):
    title: str
    year: int
def f(movie: Movie, other: dict):
    return movie["title"] + other["title"]  # use
Movie(title="x", year=1)  # use
=== a declared variable of a module | a.cache
--- a.py
cache: dict[str, int] = {}
def f(key):
    return cache[key]  # use
=== a name that only unpacking or a loop binds | a.first
--- a.py
first, second = 1, 2
print(first)  # use
=== the key of a mapping pattern | a.Kind.RED
--- a.py
class Kind:
    RED = "red"
def g(x):
    match x:
        case {Kind.RED: found, "RED": other}:  # use
            return found
=== a submodule that its package imports | pkg.a.f
--- pkg/__init__.py
from .a import f as g  # use
from . import b
from .c import *
import pkg.d as other
--- pkg/a.py
def f(): ...
--- pkg/b.py
from pkg.a import f  # use
--- pkg/c.py
from . import a
--- pkg/d.py
from pkg.a import f  # use
--- b.py
import pkg
pkg.a.f()  # use
pkg.b.f()  # use
pkg.c.a.f()  # use
pkg.d.f()  # use
=== a package that is the whole repository | a.f
--- __init__.py
from .a import f  # use
from . import a
a.f()  # use
--- a.py
def f(): ...
--- b.py
from . import f  # use
=== an attribute of a class, through instances and subclasses | a.A.size
--- a.py
class A:
    size = 1
    double = size * 2  # use
    def m(self):
        return self.size  # use
class B(A):
    def m(self):
        return self.size + super().size  # use
class C(A):
    size = 2
B().size  # use
C().size
A.size  # use
"""

#: These need a Python that can parse them, as files with them do.
NEWER_CASES = """
=== a type parameter with a bound | a.A.m
--- a.py
class A:
    def m(self): ...
class B(A): ...
--- b.py
from a import A, B
class Box[T: A, *Ts]:
    def __init__(self, held: T) -> None:
        self.held = held
    def go(self):
        self.held.m()  # use
def f[S: (A, int)](x: S, y: S | None = None) -> S:
    x.m()  # use
    return x
Box(B()).held.m()  # use
f(B()).m()  # use
=== the bound of a type parameter | a.A
--- a.py
class A: ...
--- b.py
from a import A  # use
class Box[T: A]:  # use
    def first[
        S: "A"  # use
    ](self) -> S: ...
"""

MARKS = {"exact": "# use", "inferred": "# inferred"}


@pytest.mark.parametrize(
    ("symbol", "files"),
    [*cases(CASES), *(cases(NEWER_CASES) if sys.version_info >= (3, 12) else ())],
)
def test_exact_and_inferred_uses_are_the_marked_lines(repo, symbol, files):
    root = repo(files)
    expected = {confidence: marked(root, "*.py", mark) for confidence, mark in MARKS.items()}
    assert sure_uses(root, symbol) == expected
