# SPDX-License-Identifier: Apache-2.0
"""Three messy tables, always the same: a hospital's, a sensor log and card transactions.

``python tables.py FOLDER`` writes them, with the lists of values that their declarations name. Each column is
written by a function that also returns what a person would read, so that tests can compare.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

Cell = tuple[str, Any]  # what is written, and what a person reads
Write = Callable[[random.Random, dict[str, Any]], Cell]

NULLS = ("NA", "-", "unbekannt", "")
BERLIN = ZoneInfo("Europe/Berlin")
POSTCODES = ("01067", "04109", "10115", "20095", "50667", "80331", "99084")
DIAGNOSES = ("A09", "E11.9", "I10", "I21.4", "J18.9", "K35.8", "M54.5", "S72.0")


@dataclass(frozen=True)
class MessyTable:
    """A table's file: how it is written, its columns, how many rows it has, what a row begins with."""

    file: str
    encoding: str
    delimiter: str
    columns: dict[str, Write]
    begin: Callable[[random.Random, int], dict[str, Any]]
    rows: int
    lists: dict[str, tuple[str, ...]]

    def cells(self, rows: int) -> Iterator[list[Cell]]:
        """Return the rows: of each column what is written, and what a person reads."""
        rng = random.Random(self.file)  # noqa: S311  (invented rows)
        for number in range(rows):
            about = self.begin(rng, number)
            yield [write(rng, about) for write in self.columns.values()]

    def write(self, folder: Path, rows: int | None = None) -> Path:
        """Write the table and the lists of values, and return its path."""
        path = folder / self.file
        with path.open("w", encoding=self.encoding, newline="") as file:
            file.write(self.delimiter.join(self._quoted(name) for name in self.columns) + "\r\n")
            for row in self.cells(self.rows if rows is None else rows):
                file.write(self.delimiter.join([self._quoted(text) for text, _ in row]) + "\r\n")
        for name, values in self.lists.items():
            (folder / name).write_text("".join(f"{value}\n" for value in values), "utf-8")
        return path

    def _quoted(self, text: str) -> str:
        if self.delimiter in text or '"' in text:
            return '"' + text.replace('"', '""') + '"'
        return text


def german(number: float, digits: int, thousands: str = "") -> str:
    """Write a number with a decimal comma."""
    text = f"{number:,.{digits}f}" if thousands else f"{number:.{digits}f}"
    return text.replace(",", "_").replace(".", ",").replace("_", thousands)


def sometimes_null(write: Write, share: float = 0.05) -> Write:
    """Write one of the markers for null now and then."""

    def maybe(rng: random.Random, about: dict[str, Any]) -> Cell:
        return (rng.choice(NULLS), None) if rng.random() < share else write(rng, about)

    return maybe


def one_of(spellings: dict[Any, tuple[str, ...]]) -> Write:
    """Write a value in one of its spellings."""
    cells = [(text, value) for value, texts in spellings.items() for text in texts]
    return lambda rng, about: rng.choice(cells)


def number(low: float, high: float, digits: int, spell: Callable[[float], str]) -> Write:
    """Write a number that a person reads without its signs."""

    def write(rng: random.Random, about: dict[str, Any]) -> Cell:
        drawn = round(rng.uniform(low, high), digits)
        return spell(drawn), float(drawn)

    return write


def day(about_key: str, *formats: str) -> Write:
    """Write a moment of the row in one of these formats."""

    def write(rng: random.Random, about: dict[str, Any]) -> Cell:
        moment: datetime = about[about_key]
        name = rng.choice(formats)
        fine = "%S" in name
        kept = moment if fine else moment.replace(second=0)
        return moment.strftime(name), kept if "%M" in name else datetime(
            moment.year, moment.month, moment.day
        )

    return write


def text(*choices: str) -> Write:
    """Write free text, which no question sees."""
    return lambda rng, about: (rng.choice(choices), None)


def of_row(key: str) -> Write:
    """Write an id of the row."""
    return lambda rng, about: (str(about[key]), None)


# A hospital


def _stay(rng: random.Random, number: int) -> dict[str, Any]:
    patient = max(0, number // 3 - rng.randrange(3))  # at most nine stays
    own = random.Random(f"patient {patient}")  # noqa: S311  (what stays the same from stay to stay)
    admitted = datetime(2021, 1, 1) + timedelta(minutes=rng.randrange(3 * 365 * 24 * 60))
    analysed = admitted.replace(day=1 + admitted.day % 12)
    return {
        "patient": f"P{patient:05}",
        "case": 700_000 + number,
        "born": datetime(1930, 1, 1) + timedelta(days=own.randrange(80 * 365)),
        "admitted": admitted,
        "discharged": admitted + timedelta(days=rng.randrange(1, 30)),
        "analysed": analysed,
        "name": own.choice(("Müller, Hans", 'O\'Neill, "Bob"', "Öztürk, Ayşe", "Weiß; Anna")),
    }


def _plain(digits: int) -> Callable[[float], str]:
    return lambda drawn: f"{drawn:.{digits}f}"


def _comma(digits: int) -> Callable[[float], str]:
    return lambda drawn: german(drawn, digits)


_YES = one_of({True: ("ja", "Ja", "JA"), False: ("nein", "Nein")})
_HOSPITAL: dict[str, Write] = {
    "Patient ID": of_row("patient"),
    "Fall-Nr.": of_row("case"),
    "Name": of_row("name"),
    "E-Mail": text("a@example.org", "b@example.org", ""),
    "Telefon": text("+49 30 123456", "0351/98765"),
    "Straße": text("Am Markt 1", "Lindenallee 12 a"),
    "Date of birth": sometimes_null(day("born", "%d/%m/%Y")),
    "sex ": sometimes_null(
        one_of(
            {
                "Male": ("M", "m", "Male", "male", "männlich"),
                "Female": ("F", "f", "female", "w", "Frau"),
                "Other": ("D", "divers"),
            }
        )
    ),
    "Sex (birth)": sometimes_null(one_of({"Male": ("Male", "MALE"), "Female": ("Female", "FEMALE")})),
    "Alter": sometimes_null(number(0, 100, 0, _plain(0))),
    "Größe (cm)": sometimes_null(number(140, 200, 1, _comma(1))),
    "Gewicht (kg)": sometimes_null(number(40, 150, 1, _comma(1))),
    "BMI": sometimes_null(number(15, 45, 1, _plain(1))),
    "PLZ": sometimes_null(one_of({code: (code,) for code in POSTCODES})),
    "Ort": text("Dresden", "Leipzig", "Köln", "Sankt Augustin"),
    "Land": sometimes_null(
        one_of(
            {
                "Germany": ("DE", "Deutschland", "de", "Germany"),
                "Austria": ("AT", "Österreich"),
                "elsewhere": ("Japan", "Peru"),
            }
        )
    ),
    "ward": sometimes_null(one_of({"A1": ("A1", " A1", "a1"), "B2": ("B2", "B2 "), "ICU": ("ICU", "icu")})),
    "Aufnahme": sometimes_null(day("admitted", "%d.%m.%Y")),
    "discharged": sometimes_null(day("discharged", "%d.%m.%Y", "%d/%m/%Y", "%Y-%m-%d")),
    "Verweildauer Tage": sometimes_null(number(1, 30, 0, _plain(0))),
    "ICD-10": sometimes_null(one_of({code: (code, code.lower()) for code in DIAGNOSES})),
    "Nebendiagnose ICD": sometimes_null(one_of({code: (code,) for code in DIAGNOSES}), 0.4),
    "Triage": sometimes_null(one_of({level: (str(level),) for level in range(1, 6)})),
    "consent": sometimes_null(one_of({True: ("yes", "Y", "true", "TRUE"), False: ("no", "N", "false")})),
    "Raucher": sometimes_null(_YES),
    "diabetic": sometimes_null(one_of({True: ("1",), False: ("0",)})),
    "Allergie": sometimes_null(one_of({True: ("ja", "yes", "x"), False: ("nein", "no")})),
    "readmitted": sometimes_null(one_of({True: ("Y", "y"), False: ("N", "n")})),
    "Notfall": sometimes_null(one_of({True: ("wahr", "Wahr"), False: ("falsch",)})),
    "Kosten €": sometimes_null(number(50, 90_000, 2, lambda drawn: f"€ {drawn:,.2f}")),
    "Zuzahlung": sometimes_null(number(0, 280, 2, lambda drawn: f"{german(drawn, 2)} €")),
    "Eigenanteil": sometimes_null(number(0, 9_000, 2, lambda drawn: f"EUR {german(drawn, 2, '.')}")),
    "Körpertemperatur": sometimes_null(number(35, 41, 1, _comma(1))),
    "SpO2": sometimes_null(number(80, 100, 0, lambda drawn: f"{drawn:.0f} %")),
    "systolic": sometimes_null(number(80, 200, 0, _plain(0))),
    "diastolic": sometimes_null(number(40, 120, 0, _plain(0))),
    "Puls": sometimes_null(number(40, 180, 0, lambda drawn: f"{drawn:.0f} bpm")),
    "Atemfrequenz": sometimes_null(number(8, 40, 0, _plain(0))),
    "Blutgruppe": sometimes_null(one_of({"A+": ("A+",), "0-": ("0-", "O-", "o-"), "AB+": ("AB+", "ab+")})),
    "pain score": sometimes_null(number(0, 10, 0, _plain(0))),
    "lab date": sometimes_null(day("analysed", "%d/%m/%Y")),
    "last seen": sometimes_null(day("discharged", "%d.%m.%Y %H:%M")),
    "Entfernung km": sometimes_null(number(1, 2_500, 1, lambda drawn: german(drawn, 1, "."))),
    "Versicherung": sometimes_null(one_of({"statutory": ("GKV", "gkv"), "private": ("PKV", "privat")})),
    "notes": text('said "fine", left', "none", "see 13/05; again", "pt. stable"),
    "Bemerkung": text("o. B.", 'Zustand "gut"; nach Hause', "Verlegung, Angehörige informiert"),
    "Natrium mmol/l": sometimes_null(number(120, 160, 0, _plain(0))),
    "Kalium mmol/l": sometimes_null(number(2, 7, 1, _comma(1))),
    "Kreatinin mg/dl": sometimes_null(number(0, 5, 2, _comma(2))),
    "CRP mg/l": sometimes_null(number(0, 300, 1, _plain(1))),
    "Thrombozyten": sometimes_null(number(100_000, 450_000, 0, lambda drawn: german(drawn, 0, "."))),
    "Leukozyten": sometimes_null(number(2_000, 20_000, 0, lambda drawn: f"{drawn:,.0f}")),
    "Hb g/dl": sometimes_null(number(6, 18, 1, _plain(1))),
    "HbA1c": sometimes_null(number(4, 14, 1, lambda drawn: f"{german(drawn, 1)}%")),
    "Glukose": sometimes_null(number(50, 400, 0, lambda drawn: f"{drawn:.0f} mg")),
    "LDL": sometimes_null(number(40, 250, 0, _plain(0))),
    "TSH": sometimes_null(number(0, 10, 2, _plain(2))),
    "Laktat": sometimes_null(number(0, 9, 1, _comma(1))),
    "Status": sometimes_null(
        one_of({"home": ("home", "nach Hause"), "moved": ("verlegt",), "died": ("died", "†")})
    ),
    "Mandant": text("Haus 1"),
}
HOSPITAL = MessyTable(
    "hospital.csv",
    "utf-8-sig",
    ";",
    _HOSPITAL,
    _stay,
    20_000,
    {"postcodes.csv": POSTCODES, "diagnoses.csv": DIAGNOSES},
)


# A sensor log


def _reading(rng: random.Random, number: int) -> dict[str, Any]:
    start = datetime(2023, 10, 27, tzinfo=UTC)
    moment = start + timedelta(seconds=rng.randrange(5 * 24 * 3600))
    if rng.random() < 0.1:  # from two to three o'clock, which that night has twice
        moment = datetime(2023, 10, 29, 0, 0, tzinfo=UTC) + timedelta(seconds=rng.randrange(7200))
    return {"moment": moment, "household": f"H{number // 50:04}", "local": _clock(moment)}


def _clock(moment: datetime) -> datetime:
    return moment.astimezone(BERLIN).replace(tzinfo=None)


def _unix(factor: int) -> Write:
    def write(rng: random.Random, about: dict[str, Any]) -> Cell:
        return str(int(about["moment"].timestamp()) * factor), _clock(about["moment"])

    return write


def _iso(rng: random.Random, about: dict[str, Any]) -> Cell:
    moment: datetime = about["moment"]
    west = timezone(timedelta(hours=-5))
    shown = rng.choice((moment.isoformat().replace("+00:00", "Z"), moment.astimezone(BERLIN).isoformat(),
                        moment.astimezone(west).isoformat()))  # fmt: skip
    return shown, _clock(moment)


SENSORS = MessyTable(
    "sensors.tsv",
    "utf-8",
    "\t",
    {
        "household": of_row("household"),
        "ts": _unix(1),
        "received time": _unix(1000),
        "recorded_at": sometimes_null(_iso),
        "local time": day("local", "%d.%m.%Y %H:%M:%S"),
        "sensor": one_of({"kitchen": ("kitchen", "Kitchen"), "bath": ("bath", "Bad"), "hall": ("hall",)}),
        "temperature": sometimes_null(number(-5, 35, 1, lambda drawn: f"{drawn:.1f} °C")),
        "humidity": sometimes_null(number(20, 90, 1, lambda drawn: f"{german(drawn, 1)} %")),
        "power": sometimes_null(number(0, 9_000, 1, lambda drawn: german(drawn, 1, " "))),
        "battery": sometimes_null(number(0, 100, 0, lambda drawn: f"{drawn:.0f}%")),
        "door open": one_of({True: ("true", "1"), False: ("false", "0")}),
        "comment": text("ok", "sensor\\reset", 'said "low battery"'),
    },
    _reading,
    200_000,
    {},
)


# Card transactions


def _payment(rng: random.Random, number: int) -> dict[str, Any]:
    customer = number // 40
    moment = datetime(2024, 1, 1) + timedelta(minutes=rng.randrange(366 * 24 * 60))
    return {
        "number": f"T{number:08}",
        "customer": customer,
        "card": f"{customer:06}-{rng.randrange(3)}",
        "moment": moment,
    }


def _amount(rng: random.Random, about: dict[str, Any]) -> Cell:
    drawn = round(rng.uniform(0, 20_000) if rng.random() < 0.1 else rng.uniform(0, 300), 2)
    return rng.choice((f"{drawn:,.2f} EUR", f"EUR {drawn:,.2f}", f"{drawn:.2f}")), drawn


TRANSACTIONS = MessyTable(
    "transactions.csv",
    "latin-1",
    ",",
    {
        "transaction_id": of_row("number"),
        "customer_id": of_row("customer"),
        "card": of_row("card"),
        "booked at": day("moment", "%m/%d/%Y %I:%M %p"),
        "amount": _amount,
        "balance": sometimes_null(number(0, 90_000, 2, lambda drawn: f"{drawn:,.2f}")),
        "currency": one_of({"EUR": ("EUR", "eur"), "CHF": ("CHF",)}),
        "category": sometimes_null(one_of({"food": ("food", "Food"), "fuel": ("fuel",), "café": ("café",)})),
        "online": one_of({True: ("yes", "ja"), False: ("no", "nein")}),
        "risk": number(0, 100, 1, lambda drawn: f"{drawn:.1f}%"),
        "Händler": text("Bäckerei Groß", "Café Zoë, Köln", 'Kiosk "Eck"'),
    },
    _payment,
    2_000_000,
    {},
)
TABLES = {"hospital": HOSPITAL, "sensors": SENSORS, "transactions": TRANSACTIONS}


def main() -> None:
    parser = argparse.ArgumentParser(description="Write three messy tables.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, help="of each table; by default 20,000, 200,000 and 2,000,000")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for table in TABLES.values():
        print(table.write(options.folder, options.rows))


if __name__ == "__main__":
    main()
