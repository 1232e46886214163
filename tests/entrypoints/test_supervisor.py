"""The processes behind one port end when they are asked to, whoever hears it."""

import subprocess
import sys

from judge.entrypoints.api.supervisor import MAX_PAUSE_S, pause_after

WHILE_ANOTHER_THREAD_RUNS = """
import signal, threading
from judge.adapters.journal import Journals
from judge.entrypoints.api.supervisor import Supervisor

def work(is_replacement, tell_ready):
    tell_ready()
    signal.pause()

def interrupt():
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)

timer = threading.Timer(0.3, interrupt)
supervisor = Supervisor(work, 1, finish_s=5, journal=Journals(), on_first_ready=timer.start)
print("ended", supervisor.run())
"""


def test_a_signal_that_the_kernel_gives_to_another_thread_is_heard():
    done = subprocess.run(
        [sys.executable, "-c", WHILE_ANOTHER_THREAD_RUNS],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("ended True\n", "", 0)


def test_a_worker_that_keeps_ending_is_started_ever_more_seldom_but_for_ever():
    pauses = [pause_after(failures) for failures in range(5_000)]
    assert pauses[:7] == [0, 1, 2, 4, 8, 16, MAX_PAUSE_S]
    assert set(pauses[7:]) == {MAX_PAUSE_S}
