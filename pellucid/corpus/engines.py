"""Engines: what computes the shards of a run, or the slices of a call. Another package registers others."""

from __future__ import annotations

import os
import socket
import sys
import threading
from dataclasses import dataclass
from typing import Any

from pellucid.base.checks import in_syntax, quoted, reason
from pellucid.base.errors import BadSetting, ModelCannot, PellucidError
from pellucid.base.kinds import engines
from pellucid.base.leases import Leases
from pellucid.base.packages import optional_package
from pellucid.corpus.careful import CarefulWorker, InProcess, Rows
from pellucid.corpus.work import Remote, ShardWorker, Work, WorkerAway, work_by_threads


@engines.add()
def local(work: Work, *, workers: int = 1) -> None:
    """Processes of this machine, each with a model of its own.

    workers: how many.
    """
    crew = [work.begin(work.begin_part) for _ in range(workers)]
    for worker in crew:
        if isinstance(worker, CarefulWorker):  # before there are threads, which no copy of this process would have
            worker.begin()
    with work.leases() as leases:
        if isinstance(crew[0], InProcess):  # in the caller's own thread, whose autocast it has
            _work_here(work, crew[0], leases)
        else:
            work_by_threads(work, crew, leases)
    work.report()


def _work_here(work: Work, worker: ShardWorker, leases: Leases) -> None:
    for shard in work.shards(leases, threading.Event()):
        work.finish(shard, worker.compute(shard))
        work.report()


# Ray: plain actors, each with a child process that computes. Rows never cross Ray: an actor reads and writes the
# folder, and its receipts come back.

ANSWER = 10.0  # seconds in which a cluster takes a call
OBJECTS = 80 << 20  # bytes of shared memory of a Ray that is started here: receipts are small


@engines.add()
def ray(work: Work, *, workers: int = 1, address: str = "local") -> None:
    """Actors of Ray, on this machine or on a cluster whose machines all see the folder.

    workers: how many; those that the cluster has no room for wait until it has. address: of the cluster; "auto" for the
    one that this machine belongs to, "local" for a Ray of this run alone.
    """
    package = optional_package("ray")
    loaders = [work.begin(work.begin_part) for _ in range(workers)]
    computations: list[Remote] = [each.computation for each in loaders if not isinstance(each, InProcess)]
    if not computations:
        raise ModelCannot(
            "The model is only in the memory of this process, and actors of Ray load it themselves: give its folder or "
            "its name on the hub, or leave the engine away."
        )
    threads, had_ray = work.threads, package.is_initialized()
    if not had_ray:
        _connect(package, address, threads * workers)
    try:
        actor = package.remote(num_cpus=threads, num_gpus=computations[0].gpus, max_restarts=-1)(_Actor)
        with work.leases() as leases:
            work_by_threads(work, [RayWorker(package, actor.remote(each)) for each in computations], leases)
        work.report()
    finally:
        if not had_ray:
            package.shutdown()


def _connect(package: Any, address: str, cores: int) -> None:
    """Join a cluster, or start one here; raises `BadSetting` where it does not answer."""
    here = {"num_cpus": max(cores, os.cpu_count() or 1), "object_store_memory": OBJECTS, "include_dashboard": False}
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a run tells nobody that it runs
    options = {"configure_logging": False, "log_to_driver": False, **(here if address == "local" else {})}
    try:
        if address not in ("auto", "local"):
            _check_answer(address)
        package.init(address=address, job_config=_job_config(package), **options)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        option = in_syntax("address=", "--address ")
        raise BadSetting(
            f"{option}{quoted(address)} is no cluster of Ray that answers ({reason(error)}); give host:port of `ray "
            f"start`, auto, or no address for a Ray of this run alone."
        ) from None


def _check_answer(address: str) -> None:
    """Raise `ValueError` or `OSError` where nothing answers at host:port; Ray itself would wait for minutes."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError("it is not of the form host:port")
    socket.create_connection((host, int(port)), ANSWER).close()


def _job_config(package: Any) -> Any:
    """Actors look for modules where this program does. Ray would put the current folder first, where a stranger's data
    may lie.
    """

    class WithoutCurrentFolder(package.job_config.JobConfig):  # type: ignore[misc, name-defined]
        def _runtime_env_has_working_dir(self) -> bool:
            return True

    paths = [path for path in reversed(sys.path) if path]  # each is put before the last
    return WithoutCurrentFolder(_py_driver_sys_path=paths)


class _Actor:
    """In a process of Ray: a careful worker, whose child computes."""

    def __init__(self, computation: Remote) -> None:
        self.computation = computation.here()
        self.worker = self.computation.worker(_no_part)

    def refusal(self) -> PellucidError | None:
        """Why this machine cannot compute; None where it can."""
        return self.computation.refusal()

    def compute(self, shard: int) -> Any:
        """The receipt of a shard, which is then in the folder; or the error that kept it from being computed."""
        try:
            return self.worker.compute(shard)
        except PellucidError as error:
            return error


def _no_part(rows: Rows) -> None:
    """Parts of a shard are not reported through Ray."""


@dataclass
class RayWorker:
    """An actor, as the thread that watches it sees it. waiting: the answer that says that it is there."""

    package: Any
    actor: Any
    waiting: Any = None

    def is_ready(self, seconds: float) -> bool:
        """Whether the actor runs on some machine by now; raises what keeps that machine from computing."""
        if self.waiting is None:
            self.waiting = self.actor.refusal.remote()
        if not self.package.wait([self.waiting], timeout=seconds)[0]:
            return False
        answer, self.waiting = self.waiting, None
        try:
            refusal = self.package.get(answer)
        except self.package.exceptions.RayActorError:  # it is away again
            return False
        if refusal is not None:
            raise refusal
        return True

    def compute(self, shard: int) -> Any:
        """The receipt of a shard; raises `WorkerAway` where the actor ends meanwhile: Ray starts it again."""
        try:
            answer = self.package.get(self.actor.compute.remote(shard))
        except self.package.exceptions.RayActorError as error:
            raise WorkerAway(reason(error)) from None
        if isinstance(answer, PellucidError):
            raise answer
        return answer

    def end(self) -> None:
        """End the actor and its child at once."""
        self.package.kill(self.actor)

    def close(self) -> None:
        """End the actor after its work."""
        self.end()
