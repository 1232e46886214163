"""The supervisor and its workers stop on a signal, whichever process or thread gets it."""

import os
import signal
import subprocess
import sys

import pytest

from judge.entrypoints.api.supervisor import MAX_BACKOFF_S, backoff_after

WHILE_ANOTHER_THREAD_RUNS = """
import signal, threading
from judge.adapters.journal import Journals
from judge.entrypoints.api.supervisor import Supervisor

def work(is_replacement, report_ready):
    report_ready()
    signal.pause()

def interrupt():
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)

timer = threading.Timer(0.3, interrupt)
supervisor = Supervisor(work, 1, finish_timeout_s=5, journal=Journals(), on_first_ready=timer.start)
print("ended", supervisor.run())
"""


def run(script):
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=False
    )


def test_signal_delivered_to_another_thread_is_handled():
    done = run(WHILE_ANOTHER_THREAD_RUNS)
    assert (done.stdout, done.stderr, done.returncode) == ("ended True\n", "", 0)


WHEN_THE_SUPERVISOR_IS_KILLED = """
import multiprocessing, os, signal
from judge.adapters.journal import Journals
from judge.entrypoints.api.supervisor import Supervisor

def work(is_replacement, report_ready):
    os.kill(os.getppid(), signal.SIGKILL)
    multiprocessing.parent_process().join()
    report_ready()

Supervisor(work, 1, finish_timeout_s=5, journal=Journals(), on_first_ready=print).run()
"""


def test_a_worker_whose_supervisor_was_killed_ends_quietly():
    done = run(WHEN_THE_SUPERVISOR_IS_KILLED)
    assert (done.stderr, done.returncode) == ("", -signal.SIGKILL)


WHILE_A_WORKER_WORKS = """
import os, signal
from judge.adapters.journal import Journals
from judge.entrypoints.api.supervisor import Supervisor

def work(is_replacement, report_ready):
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    report_ready()
    signal.sigwait([signal.SIGTERM])
    print("finished", flush=True)

def close_terminal():
    print(signal.getsignal(signal.SIGHUP) is signal.SIG_IGN, flush=True)
    os.killpg(0, signal.SIGHUP)

def close_terminal_again():
    os.killpg(0, signal.SIGHUP)

Supervisor(
    work, 1, finish_timeout_s=20, journal=Journals(),
    on_first_ready=close_terminal, on_stop=close_terminal_again,
).run()
"""


def test_a_worker_finishes_when_the_terminal_is_closed():
    """The kernel and then the shell send SIGHUP to all processes."""
    done = run(f"import os; os.setsid(){WHILE_A_WORKER_WORKS}")
    assert (done.stderr, done.returncode) == ("", 0)
    assert done.stdout == "False\nfinished\n"


def test_nohup_keeps_the_server_alive():
    ignored = "import os, signal; os.setsid(); signal.signal(signal.SIGHUP, signal.SIG_IGN)"
    stop = "\n    os.kill(os.getpid(), signal.SIGTERM)\n\ndef close_terminal_again"
    script = WHILE_A_WORKER_WORKS.replace("\n\ndef close_terminal_again", stop)
    assert run(f"{ignored}{script}").stdout == "True\nfinished\n"


WHILE_A_WORKER_STARTS = """
import os, signal
from judge.adapters.journal import Journals
from judge.entrypoints.api.supervisor import Supervisor

def work(is_replacement, report_ready):
    print(os.getpid(), flush=True)
    signal.pause()

supervisor = Supervisor(work, 1, finish_timeout_s=5, journal=Journals(), on_first_ready=print)
print("ended", supervisor.run())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the parent is held back by its scheduler")
def test_signal_that_ends_a_worker_first_is_handled():
    with subprocess.Popen(
        [sys.executable, "-c", WHILE_A_WORKER_STARTS],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as parent:
        assert parent.stdout
        worker = int(parent.stdout.readline())
        # Ctrl-C reaches all processes; this parent is let run when nothing else wants to.
        cpu = {min(os.sched_getaffinity(0))}
        os.sched_setaffinity(worker, cpu)
        os.sched_setaffinity(parent.pid, cpu)
        os.sched_setscheduler(parent.pid, os.SCHED_IDLE, os.sched_param(0))
        os.killpg(parent.pid, signal.SIGINT)
        assert parent.communicate(timeout=30)[0] == "ended True\n"


def test_crashing_worker_is_restarted_for_ever_with_growing_backoff():
    pauses = [backoff_after(failures) for failures in range(5_000)]
    assert pauses[:7] == [0, 1, 2, 4, 8, 16, MAX_BACKOFF_S]
    assert set(pauses[7:]) == {MAX_BACKOFF_S}
