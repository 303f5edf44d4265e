# SPDX-License-Identifier: Apache-2.0
"""The register of a stream: all that is public about it and its parties, in one file.

`set_up` writes it beside the parties' folders. Whoever adds, retires or renews a party changes the register,
and every party's configuration follows from it. It holds no secret: public keys, and passwords as the broker
keeps them, hashed from 256 random bits. So it may be carried to the machines that the folders were moved to.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, StrictStr

from anonymaly.core.value import Value
from anonymaly.declare.manifest import read_yaml
from anonymaly.errors import InputError
from anonymaly.stream.programs.keys import write_secret
from anonymaly.stream.programs.mosquitto import AccessList
from anonymaly.stream.programs.pool_config import load_config

REGISTER = "stream.yaml"
BROKER = "broker"
CONFIG = "config.yaml"
ADVICE = "`anonymaly stream init DIR` writes it; give the folder that it is in."


class Register(Value):
    """What is public about a stream's parties."""

    takes_positions = False

    type: Literal["register"] = "register"
    broker: dict[str, Any]
    """What all parties' ``broker`` entries have in common."""
    keys: dict[str, StrictStr]
    """The public key of each party, by its address."""
    passwords: dict[str, StrictStr]
    """The line of each party in the broker's password file."""
    talks: dict[str, list[StrictStr]]
    """To whom each party talks."""
    servers: list[StrictStr]
    """To whom every sensor talks."""
    streams: dict[str, dict[str, Any]]
    """What is declared of each sensor's readings, as its configuration has it; of a pool's, nothing."""
    pool: dict[str, Any] | None = None
    """What is declared of a pool, whatever its protocol; its sensors are in the order of joining it."""
    retired: list[StrictStr] = Field(default_factory=list)
    """Sensors that send no more; what they sent is still judged."""
    earlier: dict[str, list[dict[str, Any]]] = Field(default_factory=dict)
    """What was declared before of each sensor, or of a pool by its name, up to which window."""

    @classmethod
    def load(cls, folder: Path) -> Register:
        """Read a folder's register."""
        return cls.read(read_yaml(folder / REGISTER, ADVICE))

    def text(self) -> str:
        """Return the file's content."""
        head = (
            "# What is public about this stream and its parties; `anonymaly stream` keeps it. No secrets.\n"
        )
        return head + as_yaml(self.model_dump(mode="json", exclude_none=True))

    def changed(self, **fields: Any) -> Register:
        """Return it with other fields."""
        return Register.read(self.model_dump(mode="json") | fields)

    @property
    def sensors(self) -> list[str]:
        """The sensors that send."""
        return [name for name in self.streams if name not in self.retired]

    @property
    def access(self) -> AccessList:
        """Who may read and write which topics."""
        return AccessList.of(self.broker["prefix"], self.talks)

    def bring_in_line(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return a party's configuration with the register's keys, sensors and declarations."""
        name = data.get("name")
        address = f"sensor/{name}" if data["party"] == "sensor" else data["party"]
        if address not in self.talks:
            raise InputError(
                f"{address} is not in the register, or was retired",
                field="DIR",
                next_step="Give the folder of the stream that it belongs to.",
            )
        changed = data | {"peers": {peer: self.keys[peer] for peer in self.talks[address]}}
        if self.pool is not None:
            changed["pool"] = self.pool
            if before := self.earlier.get(self.pool.get("pool", "pool")):
                changed["earlier"] = before
        if data["party"] != "sensor":
            # Retired ones stay declared: their last windows are finished, and verdicts keep their meaning.
            if self.pool is None:
                changed["streams"] = self.streams
            else:
                changed["sensors"] = list(self.streams)
            for field, value in (("retired", self.retired), ("earlier", self.earlier)):
                if field == "earlier" and self.pool is not None:
                    continue
                changed.pop(field, None)
                if value:
                    changed[field] = value
        return changed


def update_config(path: Path, register: Register) -> bool:
    """Bring a party's file in line with the register; say whether it changed."""
    before = dict(read_yaml(path, ADVICE))
    changed = register.bring_in_line(before)
    if changed == before:
        return False
    replace_config(path, changed)
    return True


def replace_config(path: Path, data: dict[str, Any]) -> None:
    """Write a party's file anew, with the comment that it begins with."""
    lines = path.read_text("utf-8").splitlines()
    head = list(itertools.takewhile(lambda line: line.startswith("#"), lines))
    replace(path, "\n".join([*head, as_yaml(data)]).encode())
    load_config(path)  # so that a mistake shows here, and not when the party starts


def update_folder(folder: Path, register: Register) -> list[Path]:
    """Write the register, and bring in line with it what lies beside it; return what changed."""
    changed = [folder / REGISTER]
    replace(folder / REGISTER, register.text().encode())
    for path in sorted(folder.glob(f"*/{CONFIG}")):
        if _is_retired(path, register):
            continue
        if update_config(path, register):
            changed.append(path)
    changed += update_broker(folder / BROKER, register)
    return changed


def update_broker(folder: Path, register: Register) -> list[Path]:
    """Bring the broker's files in line with the register, if they are here; return what changed."""
    lines = [line for address, line in sorted(register.passwords.items()) if address in register.talks]
    wanted = {"passwords": "\n".join([*lines, ""]), "access": f"{register.access}\n"}
    changed = []
    for name, text in wanted.items():
        path = folder / name
        if path.exists() and path.read_text("utf-8") != text:
            replace(path, text.encode())
            changed.append(path)
    return changed


def replace(path: Path, content: bytes) -> None:
    """Write a file that only its owner may read, all of it or nothing."""
    beside = path.with_name(f".{path.name}.new")
    write_secret(beside, content, force=True)
    beside.replace(path)


def _is_retired(path: Path, register: Register) -> bool:
    data = read_yaml(path, ADVICE)
    return data.get("party") == "sensor" and data.get("name") in register.retired


def as_yaml(data: object) -> str:
    """Return data as the text of a file."""
    whole = json.loads(json.dumps(data))  # nothing twice by reference, which files may not have
    return yaml.safe_dump(whole, sort_keys=False, width=10_000)
