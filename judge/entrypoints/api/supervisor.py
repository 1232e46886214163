"""The processes behind one port: started, replaced when they end, and stopped together.

They are forked, so that they share what is open, and accept from one socket, so that what arrives
while one of them starts waits for another. One that ends is replaced, and one that keeps ending is
started ever more seldom; that never touches the others. Only when none is left, and starting fails
again and again, the whole gives up.
"""

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Final

from judge.errors import ConfigurationError
from judge.ports import Journal

BACKLOG: Final = 2048
"""Connections that may wait to be accepted; the kernel may allow fewer."""

SHUTDOWN_MARGIN_S: Final = 5
"""How much longer than the slowest request may take a worker is given to finish."""

SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
SHORT_LIFE_S: Final = 5.0
"""A worker that ends sooner after it was ready has not worked."""

MAX_PAUSE_S: Final = 30.0
MAX_FAILURES: Final = 4
"""So often in a row a worker may end too soon before all is given up, if no other works."""

STARTING_KILL_S: Final = 5.0
"""How long a worker that is not ready is given to end: it has nothing to finish."""

READY: Final = b"ready"
"""What a worker says when it is; anything else is why it cannot work."""


Work = Callable[[bool, Callable[[], None]], None]
"""What a worker does until SIGTERM: told whether it is a replacement, which joins or follows others
at work, it calls its second argument when it is ready. It may raise ConfigurationError before that.
"""


@dataclass(slots=True)
class _Worker:
    """One process; what it says until it is ready can be read from *messages*."""

    process: multiprocessing.process.BaseProcess
    messages: Connection
    ready_at: float | None = None


@dataclass(slots=True)
class _Slot:
    """Where a worker is, or will be."""

    worker: _Worker | None = None
    failures: int = 0
    start_at: float = 0.0


@dataclass(slots=True)
class Supervisor:
    """Keeps *count* processes that do *work* alive until SIGTERM or SIGINT."""

    work: Work
    count: int
    finish_s: float
    """How long a worker may take to finish what is in flight."""
    journal: Journal
    on_first_ready: Callable[[], None]
    on_stop: Callable[[], None] = lambda: None
    """Called before the workers are asked to finish."""
    on_end: Callable[[int], None] = lambda _: None
    """Told the process id of each worker that ended."""
    _slots: list[_Slot] = field(default_factory=list)
    _was_ready: bool = False
    _refusal: str = ""
    """Why a worker could not begin."""

    def run(self) -> bool:
        """Work until a signal; False when the workers kept ending.

        Raises ConfigurationError when none could begin and one said why.
        """
        self._slots = [_Slot() for _ in range(self.count)]
        with _signals() as signals:
            while not self._has_failed():
                for slot in self._slots:
                    if slot.worker is None and time.monotonic() >= slot.start_at:
                        slot.worker = _start(self.work, is_replacement=self._was_ready)
                if _wait(signals, self._awaited(), self._timeout_s()):
                    self._stop(signals)
                    return True
                for slot in self._slots:
                    if slot.worker:
                        self._check(slot, slot.worker)
            self._stop(signals)
        if self._refusal and not self._was_ready:
            raise ConfigurationError(self._refusal)
        return False

    def _awaited(self) -> Iterator[Connection | int]:
        """What tells that a worker is ready, or has ended."""
        for slot in self._slots:
            if worker := slot.worker:
                yield worker.process.sentinel
                if worker.ready_at is None and not worker.messages.closed:
                    yield worker.messages

    def _timeout_s(self) -> float | None:
        """Until a worker is to be started, if one is."""
        waiting = [slot.start_at for slot in self._slots if slot.worker is None]
        return max(0.0, min(waiting) - time.monotonic()) if waiting else None

    def _check(self, slot: _Slot, worker: _Worker) -> None:
        """Note that a worker is ready, or has ended."""
        if worker.ready_at is None and not worker.messages.closed and worker.messages.poll():
            self._read_message(worker)
        if worker.process.exitcode is None:
            return
        worked_s = 0.0 if worker.ready_at is None else time.monotonic() - worker.ready_at
        slot.failures = slot.failures + 1 if worked_s < SHORT_LIFE_S else 0
        pause_s = pause_after(slot.failures)
        slot.start_at = time.monotonic() + pause_s
        self._reap(slot, worker)
        if self._was_ready or not self._refusal:
            self.journal.note("server.worker_ended", worked_s=round(worked_s, 1), pause_s=pause_s)

    def _read_message(self, worker: _Worker) -> None:
        try:
            message = worker.messages.recv_bytes()
        except EOFError:  # It ended before it was ready.
            worker.messages.close()
            return
        if message != READY:
            self._refusal = message.decode()
            return
        worker.ready_at = time.monotonic()
        if not self._was_ready:
            self._was_ready = True
            self.on_first_ready()

    def _has_failed(self) -> bool:
        """Whether no worker works, and starting one fails and fails."""
        if any(slot.worker and slot.worker.ready_at is not None for slot in self._slots):
            return False
        allowed = MAX_FAILURES if self._was_ready else 1
        return all(slot.failures >= allowed for slot in self._slots)

    def _reap(self, slot: _Slot, worker: _Worker) -> None:
        worker.process.join()
        self.on_end(worker.process.pid or 0)
        worker.messages.close()
        slot.worker = None

    def _stop(self, signals: Connection) -> None:
        """Let all finish; who takes too long, or a second signal, is not waited for."""
        began = time.monotonic()
        self.on_stop()
        for slot in self._slots:
            if slot.worker:
                slot.worker.process.terminate()
        while living := [slot.worker for slot in self._slots if slot.worker]:
            is_hurried = _wait(signals, [worker.process.sentinel for worker in living], 0.1)
            waited_s = time.monotonic() - began
            for slot in self._slots:
                if (worker := slot.worker) is None:
                    continue
                limit_s = STARTING_KILL_S if worker.ready_at is None else self.finish_s
                if worker.process.exitcode is not None:
                    self._reap(slot, worker)
                elif is_hurried or waited_s > limit_s:
                    worker.process.kill()


def pause_after(failures: int) -> float:
    """Seconds until a worker is started again that so often in a row ended too soon."""
    # Past 1,023 of them the power would be no float any more, and that takes nine hours.
    return min(MAX_PAUSE_S, 0.5 * 2 ** min(failures, 10)) if failures else 0.0


def _wait(signals: Connection, others: Iterable[Connection | int], timeout_s: float | None) -> bool:
    """Whether a signal came; else one of *others* tells something, or the time is over."""
    wait([signals, *others], timeout_s)
    # Asked again: one that goes to all processes may end a worker before it is noticed here.
    if has_come := signals.poll():
        os.read(signals.fileno(), 64)
    return has_come


def _start(work: Work, *, is_replacement: bool) -> _Worker:
    """A process that does *work*. It cannot miss a signal: none arrives until it can take one."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    context = multiprocessing.get_context("fork")
    process = context.Process(target=_run, args=(work, is_replacement, theirs, ours))
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    theirs.close()
    return _Worker(process, ours)


def _run(work: Work, is_replacement: bool, messages: Connection, parents: Connection) -> None:  # noqa: FBT001
    """The life of a worker."""
    parents.close()
    signal.set_wakeup_fd(-1)  # or the parent would take our signals for its own
    for number in SIGNALS:
        signal.signal(number, _exit)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    try:
        work(is_replacement, lambda: messages.send_bytes(READY))
    except ConfigurationError as error:
        messages.send_bytes(str(error).encode())


def _exit(*_: object) -> None:
    """End; for signals that come before the server takes them, or that it passes on at its end."""
    raise SystemExit(0)


@contextmanager
def _signals() -> Iterator[Connection]:
    """What can be read as soon as a signal to stop has come; the process does not end of it."""
    reader, writer = multiprocessing.Pipe(duplex=False)
    os.set_blocking(writer.fileno(), False)
    # Written by the interpreter itself: the kernel may give a signal to any thread, and a handler
    # in Python runs in this one alone, which waits.
    wakeup = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    before = {number: signal.signal(number, lambda *_: None) for number in SIGNALS}
    try:
        yield reader
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(wakeup)
        reader.close()
        writer.close()
