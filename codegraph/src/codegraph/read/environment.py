"""Flow analysis: which bindings of each variable may reach the current statement.

Branches nest, so one table is enough: a branch keeps an undo log, which is applied at its end. The
cost of a branch depends on what it changes, not on how many variables there are.
"""

#: Variables with their new bindings; an empty tuple when the branch discarded them.
Changes = dict[str, tuple[int, ...]]


class Environment:
    """The bindings of variables, and of member access chains (`self.name`) with a narrowed type."""

    def __init__(self) -> None:
        self._bindings: dict[str, tuple[int, ...]] = {}
        self._chains: dict[str, set[str]] = {}
        #: The undo log of each open branch: what it changed, with the bindings before.
        self._undo_logs: list[Changes] = []

    def __getitem__(self, name: str) -> tuple[int, ...]:
        """The bindings of *name*; empty when it has not been bound."""
        return self._bindings.get(name, ())

    def __setitem__(self, name: str, bindings: tuple[int, ...]) -> None:
        if self._undo_logs:
            self._undo_logs[-1].setdefault(name, self._bindings.get(name, ()))
        self._bindings[name] = bindings
        if "." in name:
            self._chains.setdefault(name.partition(".")[0], set()).add(name)

    def forget_attributes(self, name: str) -> None:
        """Discard the narrowed types of the attributes of *name*, which was bound again."""
        for chain in self._chains.get(name, ()):
            if self[chain]:
                self[chain] = ()

    def start_branch(self) -> None:
        """Start to record changes."""
        self._undo_logs.append({})

    def end_branch(self) -> Changes:
        """Undo the changes since the last `start_branch`, and return them."""
        before = self._undo_logs.pop()
        changes = {name: self._bindings[name] for name in before}
        self._bindings.update(before)
        return changes

    def update(self, changes: Changes) -> None:
        """Apply the *changes* of a branch."""
        for name, bindings in changes.items():
            self[name] = bindings
