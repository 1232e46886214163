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
    """One process; what it says until it is ready can be read from *signs*."""

    process: multiprocessing.process.BaseProcess
    signs: Connection
    ready_at: float | None = None


@dataclass(slots=True)
class _WorkerPlace:
    """Where a worker is, or will be."""

    worker: _Worker | None = None
    failures: int = 0
    start_at: float = 0.0


@dataclass(slots=True)
class Workers:
    """*count* processes that do *work*, kept alive until SIGTERM or SIGINT."""

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
    _places: list[_WorkerPlace] = field(default_factory=list)
    _was_ready: bool = False
    _refusal: str = ""
    """Why a worker could not begin."""

    def run(self) -> bool:
        """Work until a signal; False when the workers kept ending.

        Raises ConfigurationError when none could begin and one said why.
        """
        self._places = [_WorkerPlace() for _ in range(self.count)]
        with _signals() as signals:
            while not self._is_hopeless():
                for place in self._places:
                    if place.worker is None and time.monotonic() >= place.start_at:
                        place.worker = _start(self.work, is_replacement=self._was_ready)
                if _wait(signals, self._awaited(), self._patience_s()):
                    self._stop(signals)
                    return True
                for place in self._places:
                    if place.worker:
                        self._look_after(place, place.worker)
            self._stop(signals)
        if self._refusal and not self._was_ready:
            raise ConfigurationError(self._refusal)
        return False

    def _awaited(self) -> Iterator[Connection | int]:
        """What tells that a worker is ready, or has ended."""
        for place in self._places:
            if worker := place.worker:
                yield worker.process.sentinel
                if worker.ready_at is None and not worker.signs.closed:
                    yield worker.signs

    def _patience_s(self) -> float | None:
        """Until a worker is to be started, if one is."""
        waiting = [place.start_at for place in self._places if place.worker is None]
        return max(0.0, min(waiting) - time.monotonic()) if waiting else None

    def _look_after(self, place: _WorkerPlace, worker: _Worker) -> None:
        """Note that a worker is ready, or has ended."""
        if worker.ready_at is None and not worker.signs.closed and worker.signs.poll():
            self._read_sign(worker)
        if worker.process.exitcode is None:
            return
        worked_s = 0.0 if worker.ready_at is None else time.monotonic() - worker.ready_at
        place.failures = place.failures + 1 if worked_s < SHORT_LIFE_S else 0
        pause_s = min(MAX_PAUSE_S, 0.5 * 2**place.failures) if place.failures else 0.0
        place.start_at = time.monotonic() + pause_s
        self._forget(place, worker)
        if self._was_ready or not self._refusal:
            self.journal.note("server.worker_ended", worked_s=round(worked_s, 1), pause_s=pause_s)

    def _read_sign(self, worker: _Worker) -> None:
        try:
            sign = worker.signs.recv_bytes()
        except EOFError:  # It ended before it was ready.
            worker.signs.close()
            return
        if sign != READY:
            self._refusal = sign.decode()
            return
        worker.ready_at = time.monotonic()
        if not self._was_ready:
            self._was_ready = True
            self.on_first_ready()

    def _is_hopeless(self) -> bool:
        """Whether no worker works, and starting one fails and fails."""
        if any(place.worker and place.worker.ready_at is not None for place in self._places):
            return False
        allowed = MAX_FAILURES if self._was_ready else 1
        return all(place.failures >= allowed for place in self._places)

    def _forget(self, place: _WorkerPlace, worker: _Worker) -> None:
        worker.process.join()
        self.on_end(worker.process.pid or 0)
        worker.signs.close()
        place.worker = None

    def _stop(self, signals: Connection) -> None:
        """Let all finish; who takes too long, or a second signal, is not waited for."""
        began = time.monotonic()
        self.on_stop()
        for place in self._places:
            if place.worker:
                place.worker.process.terminate()
        while living := [place.worker for place in self._places if place.worker]:
            is_hurried = _wait(signals, [worker.process.sentinel for worker in living], 0.1)
            waited_s = time.monotonic() - began
            for place in self._places:
                if (worker := place.worker) is None:
                    continue
                limit_s = STARTING_KILL_S if worker.ready_at is None else self.finish_s
                if worker.process.exitcode is not None:
                    self._forget(place, worker)
                elif is_hurried or waited_s > limit_s:
                    worker.process.kill()


def _wait(
    signals: Connection, others: Iterable[Connection | int], patience_s: float | None
) -> bool:
    """Whether a signal came; else one of *others* tells something, or the time is over."""
    ready = wait([signals, *others], patience_s)
    if signals in ready:
        os.read(signals.fileno(), 64)
    return signals in ready


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


def _run(work: Work, is_replacement: bool, signs: Connection, parents: Connection) -> None:  # noqa: FBT001
    """The life of a worker."""
    parents.close()
    signal.set_wakeup_fd(-1)  # or the parent would take our signals for its own
    for number in SIGNALS:
        signal.signal(number, _leave)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    try:
        work(is_replacement, lambda: signs.send_bytes(READY))
    except ConfigurationError as error:
        signs.send_bytes(str(error).encode())


def _leave(*_: object) -> None:
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
