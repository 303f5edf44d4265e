# SPDX-License-Identifier: Apache-2.0
"""A web process of its own, as the supervisor would start it: settings in a file, a socket that is bound."""

from __future__ import annotations

import json
import logging
import socket
import sys
from pathlib import Path

import uvicorn

from anonymaly.server import limits
from anonymaly.server.protocol import TimedProtocol
from anonymaly.server.settings import WebSettings
from anonymaly.server.web import make_app

if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(name)s %(levelname)s %(message)s")
    settings = WebSettings.read(json.loads(Path(sys.argv[1]).read_text("utf-8")))
    limits.BODY_SECONDS = float(sys.argv[3])
    TimedProtocol.head_seconds = float(sys.argv[3])
    config = uvicorn.Config(
        make_app(settings),
        http=TimedProtocol,
        ws="none",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
    )
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=int(sys.argv[2]))])
