"""Many pieces of work shared by processes, on DBOS: on SQLite for one machine, on Postgres for several workers.

The one module that knows DBOS (docs/decisions/0010 says why the loop of a job does not run on it). A piece is an item,
which is JSON, and the name of a handler, which every worker has. It is run at least once and recorded once: whoever
asks for the same piece of the same run again, after a crash or in another process, gets what was recorded. A worker
shows that it is alive by a beat in the database; the pieces of one that fell silent are given to others.

    with Durable(url, {"model_step": handler}) as durable:
        for index, result in durable.fan_out(job_id, "model_step", items): ...
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import json
import threading
import time
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from redraft import __version__
from redraft.errors import CODES, RedraftError, Refused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
    from types import TracebackType

    from dbos import WorkflowHandle

    from redraft.providers.contract import Cancel

    Handler: TypeAlias = Callable[[Any], Awaitable[Any]]

QUEUE = "redraft-pieces"
CONCURRENCY = 16
# How many pieces wait in the queue for each that runs: enough that nobody is idle, and no more in memory.
AHEAD = 2
BEAT_SECONDS = 1.0
SILENT_SECONDS = 6.0
POLL_SECONDS = 0.05

_NOW = {"postgresql": "extract(epoch from clock_timestamp())", "sqlite": "(julianday('now') - 2440587.5) * 86400.0"}
_TABLE = "CREATE TABLE IF NOT EXISTS redraft_workers (name TEXT PRIMARY KEY, beat DOUBLE PRECISION NOT NULL)"


class Durable:
    """This process as one of the workers. DBOS has one instance in a process, so there is one of these at a time."""

    current: Durable | None = None
    _opening = threading.Lock()

    def __init__(self, url: str, handlers: Mapping[str, Handler], *, concurrency: int = CONCURRENCY) -> None:
        self.url = url
        self.handlers = dict(handlers)
        self.concurrency = concurrency
        self.name = ""
        self._stop = threading.Event()
        self._beating: threading.Thread | None = None

    def __enter__(self) -> Self:
        with Durable._opening:
            if Durable.current is not None:
                raise Refused("This process is a worker already.", code="conflict")
            Durable.current = self
        try:
            self._launch()
        except BaseException:
            Durable.current = None
            raise
        return self

    def _launch(self) -> None:
        import secrets

        import sqlalchemy
        from dbos import DBOS

        piece_workflow()
        self.name = f"worker-{secrets.token_hex(6)}"
        DBOS(
            config={
                "name": "redraft",
                "system_database_url": self.url,
                "application_version": f"redraft-{__version__}",
                "executor_id": self.name,
                "log_level": "ERROR",
                "scheduler_polling_interval_sec": 3600.0,
            }
        )
        DBOS.launch()
        address = sqlalchemy.make_url(self.url)
        if address.drivername == "postgresql":
            address = address.set(drivername="postgresql+psycopg")
        self._engine = sqlalchemy.create_engine(address)
        with self._engine.begin() as connection:
            connection.execute(sqlalchemy.text(_TABLE))
        self._beat()
        DBOS.register_queue(QUEUE, worker_concurrency=self.concurrency, polling_interval_sec=POLL_SECONDS)
        self._beating = threading.Thread(target=self._keep_beating, name="redraft-beat", daemon=True)
        self._beating.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        from dbos import DBOS

        self._stop.set()
        if self._beating is not None:
            self._beating.join()
        self._execute("DELETE FROM redraft_workers WHERE name = :name", name=self.name)
        DBOS.destroy(workflow_completion_timeout_sec=0)
        self._engine.dispose()
        Durable.current = None

    def serve(self, stop: threading.Event) -> None:
        """Work on whatever comes, until told to stop."""
        while not stop.wait(BEAT_SECONDS):
            self._take_over("")

    # Sharing work

    def fan_out(
        self,
        run: str,
        step: str,
        items: Iterable[Any],
        *,
        cancel: Cancel | None = None,
        on_done: Callable[[int], None] | None = None,
    ) -> Iterator[tuple[int, Any]]:
        """The result of each item, in their order, each as soon as it and those before it are there.

        `run` names the whole: the same item of the same run and step is never worked on again once it is recorded. Only
        so many items are taken ahead as can be worked on. An item that fails ends the run with its error.
        """
        if step not in self.handlers:
            raise Refused(f"There is no handler {step!r}.")
        waiting: dict[int, WorkflowHandle[Any]] = {}
        source = enumerate(items)
        try:
            while True:
                for index, item in itertools.islice(source, self.concurrency * (1 + AHEAD) - len(waiting)):
                    waiting[index] = self._enqueued(run, step, item)
                if not waiting:
                    return
                first = min(waiting)
                result = self._result(waiting[first], run, cancel)
                del waiting[first]
                if on_done is not None:
                    on_done(first + 1)
                yield first, result
        finally:
            self._called_off(waiting.values())

    def _enqueued(self, run: str, step: str, item: Any) -> WorkflowHandle[Any]:
        from dbos import DBOS, SetWorkflowID

        with SetWorkflowID(piece_id(run, step, item)):
            return DBOS.enqueue_workflow(QUEUE, piece_workflow(), step, item)

    def _result(self, handle: WorkflowHandle[Any], run: str, cancel: Cancel | None) -> Any:
        looked = time.monotonic()
        while (status := handle.get_status()).status in ("ENQUEUED", "PENDING", "DELAYED"):
            if cancel is not None:
                cancel.check()
            if time.monotonic() - looked > BEAT_SECONDS:
                looked = time.monotonic()
                self._take_over(run)
            time.sleep(POLL_SECONDS)
        if status.status != "SUCCESS":
            raise RedraftError(f"A piece of the work ended as {status.status}.", code="io_error", run=run)
        value = handle.get_result()
        if "error" in value:
            shape = value["error"]
            code = shape["error"] if shape["error"] in CODES else "io_error"
            raise RedraftError(shape["message"], code=code, **shape.get("details", {}))
        return value["result"]

    def _called_off(self, handles: Iterable[WorkflowHandle[Any]]) -> None:
        from dbos import DBOS

        left = [handle.get_workflow_id() for handle in handles]
        if left:
            DBOS.cancel_workflows(left)

    def forget(self, run: str) -> None:
        """Let go of everything that was recorded of a run."""
        from dbos import DBOS

        found = DBOS.list_workflows(workflow_id_prefix=f"{run}:", load_input=False, load_output=False)
        if found:
            DBOS.delete_workflows([status.workflow_id for status in found])

    # Staying alive, and taking over from those that did not

    def _keep_beating(self) -> None:
        while not self._stop.wait(BEAT_SECONDS):
            with contextlib.suppress(RedraftError):  # a beat that is missed is not a failure; five in a row are
                self._beat()

    def _beat(self) -> None:
        now = _NOW[self._engine.dialect.name]
        self._execute(
            f"INSERT INTO redraft_workers VALUES (:name, {now}) ON CONFLICT (name) DO UPDATE SET beat = excluded.beat",  # noqa: S608 - our own words
            name=self.name,
        )

    def _take_over(self, run: str) -> None:
        """Give the pieces of silent workers back to the queue."""
        from dbos import DBOS

        pending = DBOS.list_workflows(
            status="PENDING",
            name=PIECE,
            workflow_id_prefix=run or None,
            load_input=False,
            load_output=False,
        )
        held = {status.executor_id for status in pending} - {self.name}
        if not held:
            return
        now = _NOW[self._engine.dialect.name]
        alive = {
            row[0]
            for row in self._execute(f"SELECT name FROM redraft_workers WHERE beat > {now} - :s", s=SILENT_SECONDS)  # noqa: S608
        }
        orphans = [status.workflow_id for status in pending if status.executor_id in held - alive]
        if orphans:
            DBOS.resume_workflows(orphans, queue_name=QUEUE)

    def _execute(self, statement: str, **values: Any) -> list[Any]:
        import sqlalchemy
        from sqlalchemy.exc import SQLAlchemyError

        try:
            with self._engine.begin() as connection:
                result = connection.execute(sqlalchemy.text(statement), values)
                return list(result) if result.returns_rows else []
        except SQLAlchemyError as error:
            raise RedraftError(f"The workers' database cannot be reached: {error}", code="io_error") from error


PIECE = "redraft.piece"


@functools.cache
def piece_workflow() -> Any:
    """The one workflow there is, registered once in a process: run the named handler on an item, and record it."""
    from dbos import DBOS

    @DBOS.workflow(name=PIECE)
    async def piece(step: str, item: Any) -> Any:
        return await DBOS.run_step_async({"name": step}, _handled, step, item)

    return piece


async def _handled(step: str, item: Any) -> dict[str, Any]:
    """An expected failure is a result like any other: recorded, and told to whoever asked."""
    durable = Durable.current
    if durable is None or step not in durable.handlers:
        return {"error": Refused(f"This worker has no handler {step!r}.").as_dict()}
    try:
        return {"result": await durable.handlers[step](item)}
    except RedraftError as error:
        return {"error": error.as_dict()}


def piece_id(run: str, step: str, item: Any) -> str:
    """What a piece is known by: the run, and what there is to do."""
    written = json.dumps([step, item], sort_keys=True, ensure_ascii=False)
    return f"{run}:{hashlib.sha256(written.encode(errors='surrogatepass')).hexdigest()[:32]}"
