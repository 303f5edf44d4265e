# SPDX-License-Identifier: Apache-2.0
"""What a column's name suggests is public about it, in English and German: bounds, values, ids, free text.

Everything here is known without the table, so it may stand in a declaration once the owner confirms it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal["id", "free text"]
UNDECLARED = "?"


@dataclass(frozen=True)
class NameHint:
    """What a name suggests: a role of columns that no question needs, or a kind with what is public."""

    why: str
    role: Role | None = None
    type: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    read: Mapping[str, Any] = field(default_factory=dict)
    advice: str = ""


def words(name: str) -> str:
    """Return a column's name as small words with single spaces, whatever it is written like.

    Examples
    --------
    >>> words("patientId"), words("Größe (cm)"), words("HEART_RATE")
    ('patient id', 'groesse cm', 'heart rate')
    """
    parted = re.sub(r"(?<=[a-zäöüß])(?=[A-ZÄÖÜ])", " ", name)
    plain = parted.casefold().translate({ord("ä"): "ae", ord("ö"): "oe", ord("ü"): "ue"})
    return " ".join(re.findall(r"[^\W\d_]+|\d+|[%€$£°]", plain))


def suggest(name: str) -> NameHint | None:
    """Return what a column's name suggests, or None if it says nothing."""
    text = words(name)
    for pattern, suggestion in _TABLE:
        if pattern.search(text):
            return suggestion
    return None


def has_role(name: str) -> bool:
    """Say whether a column is an id or free text by its name."""
    named = suggest(name)
    return named is not None and named.role is not None


def person_column(names: Sequence[str]) -> str | None:
    """Return the column that seems to say whose row it is, or None."""
    for who in _PEOPLE:
        for name in names:
            if re.fullmatch(rf"(?:{who})(?:en|s|n)?(?: ?(?:{_NUMBER}))?", words(name)):
                return name
    return None


def sounds_like_a_moment(name: str) -> bool:
    """Say whether a name is one of a date or time, so that large whole numbers may be Unix times."""
    return bool(_MOMENT.search(words(name)))


_NUMBER = "id|ids|no|nr|num|number|nummer|key|code|uuid|guid|ref|identifier|pseudonym|hash"
# People before what people have: a customer with two cards is one person.
_PEOPLE = (
    "patient|patientin|pat",
    "person|personen|pers|people|subject|proband|participant|respondent|resident|citizen",
    "customer|kunde|kunden|client|member|mitglied|mitglieds|policyholder|versicherte|versicherten|insured",
    "employee|mitarbeiter|staff|student|schueler|user|nutzer|benutzer|holder|card ?holder|account ?holder",
    "household|haushalt|haushalts|family|driver|fahrer|account|konto|card|karte|karten|vehicle|device|geraet",
)


def _matches(phrases: str) -> re.Pattern[str]:
    """Return what finds any of these phrases in a name's words, parted by commas.

    A phrase is some of the words; with = it is all of them, with ~ the last ones, and with * it may also end
    a longer German word.
    """
    patterns = []
    for phrase in phrases.split(","):
        text = re.escape(phrase.strip().lstrip("=~*")).replace(r"\ ", " ?")
        if phrase.strip().startswith("="):
            patterns.append(f"^{text}$")
        elif phrase.strip().startswith("*"):
            patterns.append(f"{text}$")
        elif phrase.strip().startswith("~"):
            patterns.append(rf"\b{text}$")
        else:
            # Signs such as € have no word's edge.
            patterns.append(rf"(?<!\w){text}(?!\w)")
    return re.compile("|".join(patterns))


_MOMENT = _matches(
    "time, timestamp, ts, date, datetime, day, epoch, unix, at, on, when, created, updated, modified, "
    "recorded, zeitpunkt, zeitstempel, uhrzeit, seit, *zeit, *datum, *time"
)


def _kind(
    why: str, kind: str, advice: str = "", read: Mapping[str, Any] | None = None, **fields: Any
) -> NameHint:
    return NameHint(why, None, kind, fields, read or {}, advice)


def _between(why: str, low: Any, high: Any) -> NameHint:
    return _kind(why, "interval", low=low, high=high)


def _above_zero(why: str) -> NameHint:
    return _kind(why, "interval", "at least 0; the most is yours to say", low=0, high=UNDECLARED)


def _catalogue(why: str) -> NameHint:
    advice = "a list in a file of its own is best: file NAME.csv"
    return _kind(why, "categories", advice, values=[UNDECLARED])


SEX = {
    "Male": ["M", "man", "Mann", "männlich", "Herr"],
    "Female": ["F", "W", "woman", "Frau", "weiblich"],
    "Other": ["D", "X", "diverse", "divers"],
}
_BLOOD = ["A+", "A-", "B+", "B-", "AB+", "AB-", "0+", "0-"]
_CURRENCIES = ["EUR", "USD", "GBP", "CHF", "JPY", "SEK", "NOK", "DKK", "PLN"]
_ID_OF = (
    "visit", "case", "patient", "customer", "account", "card", "order", "invoice", "receipt",
    "transaction", "booking", "record", "row", "serial", "contract", "document", "encounter",
    "insurance", "fall", "patienten", "kunden", "konto", "karten", "rechnungs", "beleg", "auftrags",
    "vertrags", "aufnahme", "personal", "mitglieds", "buchungs", "versicherten", "krankenkassen",
    "steuer",
)  # fmt: skip
# The first that matches counts: an id before an amount, a date of birth before an age.
_ROWS: Sequence[tuple[str, NameHint]] = (
    (
        "email, e mail, =mail, phone, telephone, telefon, tel, fax, mobile, mobil, handy, ip, mac "
        "address, address, adresse, street, strasse, anschrift, *strasse, *adresse, *telefon",
        NameHint("a contact", "id"),
    ),
    (
        "=name, =namen, full name, first name, last name, surname, forename, middle name, maiden "
        "name, given name, family name, patient name, customer name, holder name, user name, doctor "
        "name, vorname, nachname, familienname, geburtsname, patientenname, kundenname, nutzername",
        NameHint("a name of somebody", "id"),
    ),
    (
        "ssn, iban, bic, passport, ausweis, pan, vin, license plate, kennzeichen, tax id, nhs, mrn, svnr",
        NameHint("an identifying number", "id"),
    ),
    (
        "id, ids, uuid, guid, hash, token, pseudonym, identifier, =card, =karte, =account, =konto, "
        "=row, =zeile, =nr, =no, lfd nr, laufende nummer, "
        + ", ".join(f"{whose} {word}" for whose in _ID_OF for word in ("no", "nr", "number", "nummer")),
        NameHint("an id", "id"),
    ),
    (
        "~note, ~notes, ~comment, ~comments, ~remark, ~remarks, ~description, ~text, "
        "*freitext, *befundtext, ~memo, ~message, "
        "=subject, ~reason, ~history, ~narrative, *bemerkung, *bemerkungen, *kommentar, *anmerkung, "
        "*anmerkungen, *notiz, *notizen, *beschreibung, *befund, *anamnese, *verwendungszweck, "
        "*hinweis, *hinweise, *begruendung",
        NameHint("free text", "free text"),
    ),
    (
        "plz, postleitzahl, postcode, post code, postal code, zip, zip code",
        _catalogue("postcodes"),
    ),
    ("icd, ops, drg, atc", _catalogue("codes of a public catalogue")),
    ("country, land, nationality, staatsangehoerigkeit", _catalogue("countries")),
    ("=currency, =waehrung", _kind("currencies", "categories", values=_CURRENCIES, other="other")),
    ("sex, gender, geschlecht", _kind("a sex", "categories", read={"same": SEX}, values=list(SEX))),
    (
        "blood group, blood type, blutgruppe",
        _kind("blood groups", "categories", read={"same": {"0+": ["O+"], "0-": ["O-"]}}, values=_BLOOD),
    ),
    ("year of birth, birth year, geburtsjahr", _between("a year of birth", 1900, 2030)),
    (
        "date of birth, birth date, birthday, dob, geburtsdatum, geburtstag, geboren, born",
        _kind("a date of birth", "timestamps", start="1900-01-01", end="2030-12-31"),
    ),
    ("age, alter, lebensalter", _between("an age in years", 0, 120)),
    ("body temp, body temperature, koerpertemperatur, fieber", _between("a body temperature in °C", 30, 45)),
    ("temp, temperature, temperatur, *temperatur", _between("a temperature in °C", -50, 100)),
    ("height cm, groesse cm, body height, koerpergroesse", _between("a height in cm", 0, 250)),
    ("weight, gewicht, koerpergewicht", _between("a weight in kg", 0, 400)),
    ("bmi", _between("a body mass index", 0, 100)),
    ("pulse, puls, heart rate, herzfrequenz", _between("a heart rate per minute", 0, 300)),
    (
        "systolic, diastolic, systolisch, diastolisch, blood pressure, blutdruck",
        _between("a blood pressure in mmHg", 0, 300),
    ),
    ("respiratory rate, resp rate, atemfrequenz", _between("breaths per minute", 0, 100)),
    (
        "%, percent, prozent, pct, humidity, feuchte, luftfeuchte, luftfeuchtigkeit, spo 2, sp o 2, "
        "saettigung, saturation, battery, batterie, akku",
        _between("a percentage", 0, 100),
    ),
    ("=ph, ph wert, ph value", _between("a pH value", 0, 14)),
    ("latitude, lat, breitengrad", _between("a latitude", -90, 90)),
    ("longitude, lon, lng, laengengrad", _between("a longitude", -180, 180)),
    ("triage", _kind("levels of triage", "categories", values=[1, 2, 3, 4, 5])),
    ("=hour, =stunde", _between("an hour of the day", 0, 24)),
    ("=month, =monat", _between("a month", 1, 12)),
    ("pain score, pain scale, schmerzskala, =pain, =schmerz", _between("a scale from 0 to 10", 0, 10)),
    (
        "€, $, £, eur, usd, chf, gbp, cost, costs, price, amount, balance, fee, total, revenue, "
        "salary, income, charge, charges, payment, *kosten, *preis, *betrag, summe, saldo, umsatz, "
        "gehalt, einkommen, zuzahlung",
        _above_zero("an amount of money"),
    ),
    (
        "count, number of, quantity, visits, days, duration, stay, minutes, distance, km, anzahl, "
        "menge, tage, dauer, verweildauer, minuten, entfernung",
        _above_zero("a quantity"),
    ),
)
_TABLE = [(_matches(phrases), suggestion) for phrases, suggestion in _ROWS]
