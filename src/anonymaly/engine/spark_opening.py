# SPDX-License-Identifier: Apache-2.0
"""Opens what an owner gives of Spark: a frame, an Ibis table, a session's table or an address.

What cannot be opened is refused here, before any question is charged.
"""

from __future__ import annotations

import os
import shutil
import socket
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from anonymaly.engine.frames import is_ibis_table, is_spark_session
from anonymaly.engine.spark_session import OwnSession, beside, own, without_words
from anonymaly.errors import SchemaError

if TYPE_CHECKING:
    import ibis.expr.types as ir

CONNECT_PORT = 15002  # unless the address says another
_PROCESS = os.getpid()


def frame_of(source: Any, table: str | None) -> Any:
    """Return what an owner gives as a Spark frame: one already, an Ibis table, or a session with a table."""
    if is_ibis_table(source):
        backend = source.get_backend()
        return backend._session.sql(backend.compile(source))
    return source.table(table) if is_spark_session(source) else source


def open_frame(frame: Any) -> ir.Table:
    """Open a frame of the owner's session in one of our own, with what it means there."""
    with without_words():
        if frame.isStreaming:
            raise SchemaError(
                "a streaming frame has no end",
                field="source",
                next_step="Give a frame that spark.read, not spark.readStream, returns.",
            )
        ours = beside(frame.sparkSession)
        # Sessions share views of this kind alone. It is gone as soon as ours has a view of its own. Another
        # client of the same server may open a frame meanwhile, by another name.
        name = f"anonymaly_{os.getpid()}_{time.time_ns()}"
        frame.createGlobalTempView(name)
        try:
            return ours.table_of(ours._session.table(f"global_temp.{name}"))
        finally:
            frame.sparkSession.catalog.dropGlobalTempView(name)


def connect(url: str) -> OwnSession:
    """Return a session of our own: of Spark Connect by sc://, of this process and its settings by pyspark://."""
    with without_words():
        if url.startswith("sc://"):
            _refuse_silence(url)
            # By its own class: PySpark's common one refuses where a session of the other kind is open.
            from pyspark.sql.connect.session import SparkSession as Remote  # noqa: PLC0415

            return own(Remote.builder.remote(url).create())
        from pyspark import SparkContext  # noqa: PLC0415
        from pyspark.sql import SparkSession  # noqa: PLC0415

        if os.getpid() != _PROCESS:
            refuse_child()
        is_theirs = SparkContext._active_spark_context is not None
        if not is_theirs:
            refuse_without_java()
        session = SparkSession.builder.getOrCreate()
        if not is_theirs:
            silence(session)
        return beside(session)


def silence(session: Any) -> None:
    """Keep a JVM that was started here from printing why a row failed, unless it is told what to print."""
    if not session.sparkContext.getConf().contains("spark.log.level"):
        session.sparkContext.setLogLevel("OFF")


def _refuse_silence(url: str) -> None:
    """Refuse an address where nobody listens; Spark's own client would try again for ten minutes."""
    address = urlsplit(url)
    try:
        socket.create_connection((address.hostname or "localhost", address.port or CONNECT_PORT), 20).close()
        return
    except OSError as problem:
        kind = type(problem).__name__
    raise SchemaError(
        f"nothing answers at the address of Spark Connect ({kind})",
        field="source",
        next_step="Check host and port, and that the server is running.",
    )


def refuse_child() -> None:
    """Refuse a forked child: it would talk to the engine through its parent's socket."""
    raise SchemaError(
        "a Spark session belongs to the process that opened it, and this is a forked child",
        field="source",
        next_step="Open a session here and give its frame, or start processes by spawn.",
    )


def refuse_without_java() -> None:
    """Refuse to start Spark where there is no Java, which PySpark does not bring."""
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") is None and (home is None or shutil.which(f"{home}/bin/java") is None):
        raise SchemaError(
            "Spark needs Java, which is not installed",
            field="source",
            next_step="Run: apt-get install openjdk-17-jre-headless (or set JAVA_HOME).",
        )
