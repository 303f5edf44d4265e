# SPDX-License-Identifier: Apache-2.0
"""The owner's YAML file as a value: the dataset's declaration, its budget, and where the ledger is."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, StrictBool, StrictInt, StrictStr, field_validator

from anonymaly.core.epsilon import to_nano, to_text
from anonymaly.core.rate import Adjacency
from anonymaly.core.value import Value, added, is_text
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.value_files import with_values
from anonymaly.engine.addresses import is_address, with_variables, without_password
from anonymaly.errors import InputError, ManifestError

LARGEST_FILE = 1_000_000  # bytes; a declaration is a page or two
TABLES = frozenset({".csv", ".parquet", ".pq", ".duckdb"})
DEEPEST = 50  # levels; a declaration has five
UNDECLARED = "?"  # what `init` writes where only the owner can know
SPELLINGS = frozenset({"nulls", "same"})  # of a reading, where a ? is what the table has


class Manifest(Value):
    """A dataset, its rules and its account, as one file declares them.

    Paths are relative to the file.
    """

    name: StrictStr
    """The account's name: one budget, whatever the version."""
    version: str = "1"
    """Which state of the table this is. It changes fingerprints, never the budget."""
    source: StrictStr
    """A CSV or Parquet path, glob or folder, a Delta or Iceberg table; with table a database's URL or file.

    ``${NAME}`` stands for a variable of the environment.
    """
    table: StrictStr | None = None
    """The table inside a database; schema.table in another schema."""
    key: StrictStr | None = None
    """A column by which the owner picks out rows."""
    person: StrictStr | None = None
    """The column that identifies the person; without it, every row counts as a person of its own."""
    max_rows: StrictInt | None = None
    """The most rows that a person has, needed with person; further rows are cut off."""
    public: StrictBool = False
    """Whether the table holds no secrets: anyone may simulate on it and inspect it."""
    columns: dict[str, dict[str, Any]] = Field(min_length=1)
    """The declared columns by name, such as age: {type: interval, low: 0, high: 120}."""
    rules: dict[str, dict[str, Any]] | Literal["any"] = Field(default_factory=dict)
    """Relaxed promises that questions may cite, by name; "any" is for an owner alone with the data."""
    budget: str | None = None
    """The most ε that all answers together may cost."""
    adjacency: Adjacency = "add_remove"
    """What two neighbouring tables are: one person more (add_remove), or one person changed (replace)."""
    ledger: StrictStr | None = None
    """The ledger's file or PostgreSQL URL; by default <name>.ledger."""
    anchor: StrictStr | None = None
    """A file elsewhere that holds the newest entry's hash, so that a restored old ledger is noticed."""
    store: StrictStr | None = None
    """The folder of released answers; by default beside the ledger."""
    questions: tuple[StrictStr, ...] = added(())
    """Questions of other packages that may be asked, by name; nothing here proves their promises."""
    secret: StrictStr | None = added(None)
    """The file of the owner's secret, made at the first charge; by default <name>.secret by the ledger."""
    line_breaks: StrictBool = added(False)
    """Whether values in quotes may hold line breaks, in a CSV file; otherwise each line is one record."""
    stand_in: StrictStr | None = added(None)
    """A CSV or Parquet path of public rows with the same columns, for rehearsals; else rows are invented."""

    reading: dict[str, Any] = added({})
    """How the table's values are written, for every column that does not say it itself in read."""

    file: dict[str, Any] = added({})
    """The encoding and delimiter of a text file, such as {encoding: latin-1, delimiter: ;}."""
    rows: StrictInt | None = added(None)
    """About how many rows the table has, if that is public."""
    memory: StrictStr | None = added(None)
    """How much memory the embedded engine may take, such as 4GB; beyond it, it writes to a private folder."""
    threads: StrictInt | None = added(None)
    """How many cores the embedded engine may use; all of them without it."""

    @field_validator("version", mode="before")
    @classmethod
    def _version(cls, value: Any) -> str:
        # YAML reads 1 as a number and 2026-01-01 as a date, and both come back as written; 1.10 does not.
        if isinstance(value, bool) or not isinstance(value, str | int | date):
            raise ValueError("must be text; put it in quotes")
        return str(value)

    @field_validator("columns", "rules", "reading", mode="before")
    @classmethod
    def _plain(cls, value: Any) -> Any:
        for name in value if isinstance(value, Mapping) else ():
            if not isinstance(name, str):
                raise ValueError(f"has the name {name}, which YAML does not read as text; put it in quotes")
        return _as_text(value)

    @field_validator("budget", mode="before")
    @classmethod
    def _budget(cls, value: Any) -> str | None:
        return None if value is None else to_text(to_nano(value, field="budget"))

    @classmethod
    def load(cls, path: str | Path) -> Manifest:
        """Read the file, or say which line or field is wrong."""
        if str(path).startswith(("http://", "https://", "http:/", "https:/")):
            raise ManifestError(
                "needs the table's YAML file, on its owner's machine, and not the address of a server",
                next_step="Questions, find, plan and ledger take an address.",
            )
        return cls.read(with_values(read_yaml(Path(path)), Path(path).parent))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Manifest:
        """Read the manifest from plain data."""
        try:
            refuse_undeclared(data)
            return super().from_dict(data)
        except ManifestError:
            raise
        except RecursionError:
            raise ManifestError("is nested too deeply", next_step=_ADVICE) from None
        except InputError as error:
            raise ManifestError(error.problem, field=error.field, next_step=error.next_step) from None

    def declaration(self) -> Declaration:
        """Return what the file makes public, as its account sees it; the source need not be there."""
        return Declaration.read(**self._declared()).with_adjacency(self.adjacency)

    def dataset(self, folder: Path) -> Dataset:
        """Return the dataset that the file declares; paths are relative to ``folder``."""
        return Dataset(
            self.source_location(folder),
            table=self.table,
            line_breaks=self.line_breaks,
            file=self.file,
            memory=self.memory,
            threads=self.threads,
            stand_in=self.place(folder, self.stand_in),
            **self._declared(),
        )

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """Show addresses without their passwords."""
        for name, item in super().__repr_args__():
            yield name, without_password(item) if isinstance(item, str) else item

    def _declared(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "version": self.version,
            "key": self.key,
            "columns": self.columns,
            "rules": self.rules,
            "person": self.person,
            "max_rows": self.max_rows,
            "public": self.public,
            "questions": self.questions,
            "reading": self.reading or None,
            "rows": self.rows,
        }

    def source_location(self, folder: Path) -> str:
        """Return the table's address, or its path or pattern as seen from here."""
        given = _with_variables(self.source, "source")
        if is_address(given):
            return given
        # Only what the owner wrote is a pattern, not the folder that the file happens to lie in.
        pattern = glob.has_magic(given) and not (folder / given).exists()
        place = Path(glob.escape(str(folder))) if pattern else folder
        return str(place / given)

    def ledger_location(self, folder: Path) -> str:
        """Return where the ledger is, as seen from here."""
        return str(self.place(folder, _with_variables(self.ledger or f"{self.name}.ledger", "ledger")))

    def store_location(self, folder: Path) -> str:
        """Return where answers are kept, as seen from here."""
        name = str(folder / self.name)
        return self.place(folder, self.store) or beside(self.ledger_location(folder), name)

    def secret_location(self, folder: Path) -> str:
        """Return where the owner's secret is, as seen from here."""
        name = str(folder / self.name)
        return self.place(folder, self.secret) or secret_beside(self.ledger_location(folder), name)

    def place(self, folder: Path, path: str | None) -> str | None:
        """Return a path or URL of the file as seen from here."""
        return path if path is None or "://" in path else str(folder / path)


def _with_variables(text: str, field: str) -> str:
    """Fill in ${NAME}, when it is needed and no earlier, so that a manifest never holds a password."""
    try:
        return with_variables(text, dict(os.environ), field=field)
    except InputError as error:
        raise ManifestError(error.problem, field=error.field, next_step=error.next_step) from None


TOO_DEEP = f"nested more than {DEEPEST} levels deep"
_ADVICE = "`anonymaly init TABLE` writes a file to start from."
_QUOTES = (
    'Put a text that holds signs in quotes, as in ["<=50K", ">50K"], and begin lines with spaces, no tabs.'
)


def absolute(place: str) -> str:
    """Return a path that means the same after a change of folder; a database's URL stays as it is."""
    return place if "://" in place else str(Path(place).absolute())


def beside(ledger: str, name: str) -> str:
    """Return the default place of answers: beside the ledger, if that is a file."""
    return f"{name if '://' in ledger else ledger}.answers"


def secret_beside(ledger: str, name: str) -> str:
    """Return the default place of an account's secret: in the ledger's folder, if that is a file."""
    # Not by the ledger's name: each account of a ledger has a secret of its own.
    return f"{name if '://' in ledger else Path(ledger).with_name(Path(name).name)}.secret"


class _Loader(yaml.SafeLoader):
    """YAML without repeated names and aliases, because both hide what is declared, and without depth.

    Too many levels are refused as they begin: reading them takes time that grows with their square.
    """

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._levels = 0

    def fetch_flow_collection_start(self, token: type[yaml.Token]) -> None:
        # The scanner runs ahead of the nodes by a thousand characters.
        if self.flow_level >= DEEPEST:
            raise yaml.scanner.ScannerError(None, None, TOO_DEEP, self.get_mark())
        super().fetch_flow_collection_start(token)

    def construct_scalar(self, node: yaml.ScalarNode | yaml.MappingNode) -> Any:
        found = super().construct_scalar(node)
        if not is_text(str(found)):  # written as an escape
            raise yaml.constructor.ConstructorError(
                None, None, "a text has half a surrogate pair", node.start_mark
            )
        return found

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.tag == "tag:yaml.org,2002:merge":
                raise yaml.constructor.ConstructorError(None, None, "<< is not supported", key.start_mark)
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"{key.value!r} is there twice", key.start_mark
                    )
                seen.add(key.value)
        constructed = super().construct_mapping(node, deep)
        if len(constructed) < len(node.value):  # 1 and 0x1
            raise yaml.constructor.ConstructorError(None, None, "a name is there twice", node.start_mark)
        return constructed

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except yaml.YAMLError:
            raise
        except (ValueError, LookupError, AttributeError, TypeError):  # 2026-02-30 looks like a date
            raise yaml.constructor.ConstructorError(
                None,
                None,
                "a value is no date or number; put it in quotes",
                node.start_mark,
            ) from None

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.get_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(None, None, "aliases are not supported", mark)
        if self._levels >= DEEPEST:
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(None, None, TOO_DEEP, mark)
        self._levels += 1
        node = super().compose_node(parent, index)
        self._levels -= 1
        return node


def read_yaml(path: Path, advice: str = _ADVICE) -> Mapping[str, Any]:
    """Read a file of names and values, or say which line is wrong."""
    if path.suffix.lower() in TABLES:
        raise ManifestError(
            f"{path} is a table, not the YAML file that declares it",
            next_step=f"Name its YAML file; `anonymaly init {path}` writes one.",
        )
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            raise ManifestError(f"{path} has more than {LARGEST_FILE:,} bytes", next_step=advice)
        text = content.decode("utf-8-sig")
    except FileNotFoundError:
        raise ManifestError(f"there is no file {path}", next_step=f"Check the path; {advice}") from None
    except (OSError, ValueError) as problem:
        raise ManifestError(f"cannot read {path} ({type(problem).__name__})", next_step=advice) from None
    return parse_yaml(text, str(path), advice)


def parse_yaml(text: str, place: str, advice: str = _ADVICE) -> Mapping[str, Any]:
    """Read names and values, or say which line of the text at a place is wrong."""
    try:
        data = yaml.load(text, Loader=_Loader)  # noqa: S506  (a SafeLoader)
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        line = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        reason = getattr(problem, "problem", None) or "malformed"
        raise ManifestError(f"{place}{line} is not YAML: {reason}", next_step=f"{_QUOTES} {advice}") from None
    except ValueError as problem:
        raise ManifestError(f"cannot read {place} ({type(problem).__name__})", next_step=advice) from None
    if not isinstance(data, Mapping):
        raise ManifestError(f"{place} declares nothing", next_step=advice)
    return data


def _as_text(data: Any) -> Any:
    """Write the dates that YAML finds without quotes as text, so that the same file is the same value."""
    if isinstance(data, date):
        return str(data)
    if isinstance(data, Mapping):
        return {name: _as_text(item) for name, item in data.items()}
    return [_as_text(item) for item in data] if isinstance(data, list | tuple) else data


def refuse_undeclared(data: Any) -> None:
    """Point at every question mark that ``init`` left for the owner, all at once."""
    places = list(dict.fromkeys(_undeclared(data, ())))
    if not places:
        return
    if len(places) == 1:
        field, problem = ".".join(places[0]), "is still to be declared"
    else:
        # Those of a column in one line: a table of sixty columns has a hundred of them.
        lines: dict[tuple[str, ...], list[str]] = {}
        for *outer, name in places:
            lines.setdefault(tuple(outer), []).append(name)
        shown = [
            f"{'.'.join(outer)}: {', '.join(names)}" if outer else ", ".join(names)
            for outer, names in lines.items()
        ]
        field, problem = None, "\n  ".join([f"still to be declared, in {len(lines)} places:", *shown])
    raise ManifestError(
        problem,
        field=field,
        next_step="Replace each ? by what is publicly known; never look it up in the rows.",
    )


def _undeclared(data: Any, place: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the place of each question mark, as the names that lead to it."""
    if data == UNDECLARED:
        yield place
    elif isinstance(data, Mapping):
        for name, item in data.items():
            if name not in SPELLINGS:
                yield from _undeclared(item, (*place, str(name)))
    elif isinstance(data, list):
        for item in data:
            yield from _undeclared(item, place)
