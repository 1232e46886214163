"""The processes behind one port: started, replaced when they end, and stopped together.

They are forked, so that they share open files, and accept from one socket, so that connections that
arrive while one of them starts go to another. A worker that ends is replaced, with a growing delay
if it keeps ending; that never affects the others. Only when none is left, and starting one fails
again and again, does the supervisor give up.
"""

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Final

from judge.errors import ConfigurationError
from judge.ports import Journal

BACKLOG: Final = 2048
"""Connections that may wait to be accepted; the kernel may allow fewer."""

SHUTDOWN_MARGIN_S: Final = 5
"""Time to finish for a worker, beyond that of the slowest request."""

SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""To stop. A terminal that is closed sends SIGHUP to all processes, and often twice."""

MIN_UPTIME_S: Final = 5.0
"""A worker that ends sooner than this after it was ready counts as failed."""

MAX_BACKOFF_S: Final = 30.0
MAX_FAILURES: Final = 4
"""Failures in a row of every worker, with none at work, before the supervisor gives up."""

START_KILL_TIMEOUT_S: Final = 5.0
"""Time to end for a worker that is not ready yet: it has nothing to finish."""

READY: Final = b"ready"
"""The message of a worker that is ready; any other message says why it cannot start."""

Work = Callable[[bool, Callable[[], None]], None]
"""What a worker does until SIGTERM. Its arguments: whether a worker was ready before it, and what
to call when it is ready. It may raise ConfigurationError before that.
"""


@dataclass(slots=True)
class _Worker:
    """One process, and the pipe on which it sends *messages* until it is ready."""

    process: multiprocessing.process.BaseProcess
    messages: Connection
    ready_at: float | None = None


@dataclass(slots=True)
class _Slot:
    """A place for one worker: it runs, or starts at *start_at* of the monotonic clock."""

    worker: _Worker | None = None
    failures: int = 0
    start_at: float = 0.0


@dataclass(slots=True)
class Supervisor:
    """Keeps *count* processes that do *work* alive until one of SIGNALS."""

    work: Work
    count: int
    finish_timeout_s: float
    """How long a worker may take to finish what is in flight."""
    journal: Journal
    on_first_ready: Callable[[], None]
    on_stop: Callable[[], None] = lambda: None
    """Called before the workers are asked to finish."""
    on_end: Callable[[int], None] = lambda _: None
    """Called with the process id of each worker that ended."""
    _slots: list[_Slot] = field(default_factory=list)
    _was_ready: bool = False
    _start_error: str = ""
    """Why a worker could not start."""

    def run(self) -> bool:
        """Supervise until a signal; False when the workers kept ending.

        Raises ConfigurationError when none could start and one said why.
        """
        self._slots = [_Slot() for _ in range(self.count)]
        with _signal_pipe() as signals:
            while not self._has_failed():
                for slot in self._slots:
                    if slot.worker is None and time.monotonic() >= slot.start_at:
                        slot.worker = _start_worker(self.work, is_replacement=self._was_ready)
                if _poll(signals, self._waitables(), self._timeout_s()):
                    self._stop(signals)
                    return True
                for slot in self._slots:
                    if slot.worker:
                        self._update(slot, slot.worker)
            self._stop(signals)
        if self._start_error and not self._was_ready:
            raise ConfigurationError(self._start_error)
        return False

    def _waitables(self) -> Iterator[Connection | int]:
        """What becomes readable when a worker is ready, or has ended."""
        for slot in self._slots:
            if worker := slot.worker:
                yield worker.process.sentinel
                if worker.ready_at is None and not worker.messages.closed:
                    yield worker.messages

    def _timeout_s(self) -> float | None:
        """Seconds until a worker is due to start; None if none is."""
        waiting = [slot.start_at for slot in self._slots if slot.worker is None]
        return max(0.0, min(waiting) - time.monotonic()) if waiting else None

    def _update(self, slot: _Slot, worker: _Worker) -> None:
        """Update *slot* if its *worker* is ready or has ended."""
        if worker.ready_at is None and not worker.messages.closed and worker.messages.poll():
            self._read_message(worker)
        if worker.process.exitcode is None:
            return
        worked_s = 0.0 if worker.ready_at is None else time.monotonic() - worker.ready_at
        slot.failures = slot.failures + 1 if worked_s < MIN_UPTIME_S else 0
        pause_s = backoff_after(slot.failures)
        slot.start_at = time.monotonic() + pause_s
        self._reap(slot, worker)
        if self._was_ready or not self._start_error:
            self.journal.note("server.worker_ended", worked_s=round(worked_s, 1), pause_s=pause_s)

    def _read_message(self, worker: _Worker) -> None:
        try:
            message = worker.messages.recv_bytes()
        except EOFError:  # It ended before it was ready.
            worker.messages.close()
            return
        if message != READY:
            self._start_error = message.decode()
            return
        worker.ready_at = time.monotonic()
        if not self._was_ready:
            self._was_ready = True
            self.on_first_ready()

    def _has_failed(self) -> bool:
        """Whether no worker is ready, and each has failed too often in a row."""
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
        """Let all workers finish; kill those that take too long, or all at a second signal."""
        began = time.monotonic()
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # It is no second request to stop.
        self.on_stop()
        for slot in self._slots:
            if slot.worker:
                slot.worker.process.terminate()
        while living := [slot.worker for slot in self._slots if slot.worker]:
            is_forced = _poll(signals, [worker.process.sentinel for worker in living], 0.1)
            waited_s = time.monotonic() - began
            for slot in self._slots:
                if (worker := slot.worker) is None:
                    continue
                limit_s = START_KILL_TIMEOUT_S if worker.ready_at is None else self.finish_timeout_s
                if worker.process.exitcode is not None:
                    self._reap(slot, worker)
                elif is_forced or waited_s > limit_s:
                    worker.process.kill()


def backoff_after(failures: int) -> float:
    """Seconds before a worker with so many *failures* in a row is started again."""
    # Past 1,023 failures, which take nine hours, the power would overflow a float.
    return min(MAX_BACKOFF_S, 0.5 * 2 ** min(failures, 10)) if failures else 0.0


def _poll(signals: Connection, others: Iterable[Connection | int], timeout_s: float | None) -> bool:
    """Wait for a signal, one of *others* or the timeout; whether a signal came."""
    wait([signals, *others], timeout_s)
    # Polled again: a signal to all processes may end a worker before it is noticed here.
    if has_signal := signals.poll():
        os.read(signals.fileno(), 64)
    return has_signal


def _start_worker(work: Work, *, is_replacement: bool) -> _Worker:
    """A new process that does *work*; signals are blocked until it can handle them."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    context = multiprocessing.get_context("fork")
    process = context.Process(target=_do_work, args=(work, is_replacement, sender, receiver))
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    sender.close()
    return _Worker(process, receiver)


def _do_work(work: Work, is_replacement: bool, messages: Connection, receiver: Connection) -> None:  # noqa: FBT001
    """Do *work* in the new process, and report how its start went."""
    receiver.close()  # the parent has its own
    signal.set_wakeup_fd(-1)  # or our signals would reach the parent's pipe
    for number in SIGNALS:
        signal.signal(number, _exit)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # The supervisor sends SIGTERM then.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    try:
        work(is_replacement, lambda: _report(messages, READY))
    except ConfigurationError as error:
        _report(messages, str(error).encode())


def _report(messages: Connection, message: bytes) -> None:
    with suppress(BrokenPipeError):  # The supervisor was killed meanwhile; a worker ends after it.
        messages.send_bytes(message)


def _exit(*_: object) -> None:
    """Exit on a signal that comes before uvicorn handles it, or that it raises again at its end."""
    raise SystemExit(0)


@contextmanager
def _signal_pipe() -> Iterator[Connection]:
    """A pipe that is readable once a signal to stop came; the signal does not end the process."""
    reader, writer = multiprocessing.Pipe(duplex=False)
    os.set_blocking(writer.fileno(), False)
    # The interpreter writes into it: the kernel may deliver a signal to any thread, and a handler
    # in Python would run in this one alone, which waits.
    wakeup = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    before = {number: signal.signal(number, lambda *_: None) for number in SIGNALS}
    if before[signal.SIGHUP] is signal.SIG_IGN:  # as `nohup` has it
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        yield reader
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(wakeup)
        reader.close()
        writer.close()
