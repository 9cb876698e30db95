"""Work in several threads at once: races are made likely, and errors reach the test."""

import sys
import threading
from contextlib import contextmanager

PATIENCE = 300  # seconds; who waits longer, also on a busy machine, waits for ever


@contextmanager
def hurried_switching():
    """Threads take turns five hundred times as often as usual."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def elsewhere(job):
    """The result of a job that runs in a thread of its own, after it has ended; its error is raised here."""
    return together(job)[0]


def together(*jobs):
    """The results of jobs that start at the same moment, each in a thread of its own; the first error is raised
    here.
    """
    results, errors = [None] * len(jobs), []
    gate = threading.Barrier(len(jobs))

    def run(number):
        try:
            gate.wait(PATIENCE)
            results[number] = jobs[number]()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(len(jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    if errors:
        raise errors[0]
    assert not any(thread.is_alive() for thread in threads), "a thread waits for another one"
    return results


@contextmanager
def in_the_middle(module, job, times=1):
    """Each of this thread's first `times` calls of the module waits while another thread does the job; yields its
    results.
    """
    own, results, waiting = threading.get_ident(), [], [None] * times

    def meanwhile(*_):
        if threading.get_ident() == own and waiting:
            waiting.pop()
            results.append(elsewhere(job))

    handle = module.register_forward_hook(meanwhile)
    try:
        yield results
    finally:
        handle.remove()
