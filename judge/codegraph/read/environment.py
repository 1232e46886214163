"""Which bindings of each variable may reach the statement that is being read.

Branches are read one inside the other, so one table is enough: what a branch changes is noted and
taken back at its end. A branch costs what it changes, however many variables there are.
"""

#: Variables with their new bindings; none when the branch forgot them.
Changes = dict[str, tuple[int, ...]]


class Environment:
    """Variables, and chains such as `self.name` whose type was narrowed, with their bindings."""

    def __init__(self) -> None:
        self._bindings: dict[str, tuple[int, ...]] = {}
        self._chains: dict[str, set[str]] = {}
        #: For each open branch, what it changed and how that was before.
        self._before: list[Changes] = []

    def __getitem__(self, name: str) -> tuple[int, ...]:
        """The bindings of *name*; none when it has not been bound."""
        return self._bindings.get(name, ())

    def __setitem__(self, name: str, bindings: tuple[int, ...]) -> None:
        if self._before:
            self._before[-1].setdefault(name, self._bindings.get(name, ()))
        self._bindings[name] = bindings
        if "." in name:
            self._chains.setdefault(name.partition(".")[0], set()).add(name)

    def forget_attributes(self, name: str) -> None:
        """Forget what was known of the attributes of *name*."""
        for chain in self._chains.get(name, ()):
            if self[chain]:
                self[chain] = ()

    def start_branch(self) -> None:
        """Begin to note what changes."""
        self._before.append({})

    def end_branch(self) -> Changes:
        """Take back what has changed since the last `start_branch`, and return it."""
        before = self._before.pop()
        changes = {name: self._bindings[name] for name in before}
        self._bindings.update(before)
        return changes

    def update(self, changes: Changes) -> None:
        """Make the *changes* of a branch."""
        for name, bindings in changes.items():
            self[name] = bindings
