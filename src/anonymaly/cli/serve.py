# SPDX-License-Identifier: Apache-2.0
"""``anonymaly serve``: tables as a server that analysts ask with keys."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

import typer

from anonymaly.cli.output import say
from anonymaly.core.extras import require
from anonymaly.errors import InputError

Folder = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="The folder of the tables' YAML files, and of server.yaml.")
]
Host = Annotated[str | None, typer.Option("--host", help="The address to listen at; 127.0.0.1 if not given.")]
Port = Annotated[
    int | None,
    typer.Option("--port", min=0, max=65535, help="The port to listen at; 8765 if not given, 0 for any."),
]
Web = Annotated[int | None, typer.Option("--web", min=1, help="How many web processes; 1 if not given.")]
Workers = Annotated[int | None, typer.Option("--workers", min=1, help="How many workers; 1 if not given.")]
OnlyOf = Annotated[
    Literal["web", "workers"] | None, typer.Option("--only", help="Run these alone on this machine.")
]
StateAt = Annotated[
    str | None,
    typer.Option("--state", metavar="URL", help="What all processes share: a file, or a PostgreSQL address."),
]
Certificate = Annotated[str | None, typer.Option("--tls-cert", metavar="FILE", help="Certificates for TLS.")]
PrivateKey = Annotated[str | None, typer.Option("--tls-key", metavar="FILE", help="The key for TLS.")]
Proxy = Annotated[
    str | None,
    typer.Option("--behind-proxy", metavar="ADDRESS", help="A proxy that does TLS; nobody else is answered."),
]
LogFile = Annotated[
    str | None,
    typer.Option(
        "--log", metavar="FILE", help="The file of the log; standard error if not given. It may be rotated."
    ),
]
LogJson = Annotated[bool, typer.Option("--log-json", help="Write each line of the log as a JSON object.")]
NewOwnerKey = Annotated[
    bool, typer.Option("--new-owner-key", help="Make a further owner's key, for one that is lost.")
]
PrintGrants = Annotated[
    str | None,
    typer.Option(
        "--print-grants", metavar="ROLE", help="Print what a web process's database role needs, and end."
    ),
]


def serve(
    folder: Folder,
    host: Host = None,
    port: Port = None,
    web: Web = None,
    workers: Workers = None,
    only: OnlyOf = None,
    state: StateAt = None,
    tls_cert: Certificate = None,
    tls_key: PrivateKey = None,
    behind_proxy: Proxy = None,
    log: LogFile = None,
    log_json: LogJson = False,
    new_owner_key: NewOwnerKey = False,
    print_grants: PrintGrants = None,
) -> None:
    """Serve the tables of a folder to analysts with keys, until stopped."""
    from anonymaly.server.run import serve as run  # noqa: PLC0415  (--help needs no database)
    from anonymaly.server.state import web_grants  # noqa: PLC0415

    if print_grants is not None:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,62}", print_grants):
            raise InputError(
                "must be the name of a role: letters, digits and underscores",
                field="print-grants",
                next_step="Give it as in CREATE ROLE.",
            )
        for statement in web_grants(print_grants):
            say(f"{statement};")
        return
    if only != "workers":
        require("server", "A server")
    options = {
        "host": host,
        "port": port,
        "web": web,
        "workers": workers,
        "state": state,
        "tls_cert": tls_cert and str(Path(tls_cert).absolute()),
        "tls_key": tls_key and str(Path(tls_key).absolute()),
        "behind_proxy": behind_proxy,
        "log": log and str(Path(log).absolute()),
        "log_json": log_json or None,
    }
    if state is not None and "://" not in state:
        options["state"] = str(Path(state).absolute())  # an option is relative to where it is typed
    run(folder, options, only, say, new_owner_key=new_owner_key)
