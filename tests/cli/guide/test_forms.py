# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from anonymaly.cli.guide.dates import sniff_dates, sniff_unix
from anonymaly.cli.guide.forms import null_markers, sniff
from anonymaly.cli.guide.numbers import sniff_numbers


@pytest.mark.parametrize(
    ("texts", "ways", "signs"),
    [
        (["1", "22", "-3.5", "1e3"], [(".", None)], ()),
        (["169,0", "72,25"], [(",", None)], ()),
        (["€ 1,760.72", "€ 12.00"], [(".", ",")], ("€",)),
        (["1.760,72 €", "12,00 €"], [(",", ".")], ("€",)),
        (["-€ 5.00", "1 EUR"], [(".", None)], ("€", "EUR")),
        (["97 %", "98%"], [(".", None)], ("%",)),
        (["1 234,5", "12,5"], [(",", " ")], ()),
        (["1'234.50", "0.10"], [(".", "'")], ()),
        # Both ways fit, and they mean different numbers.
        (["1,234", "2,500"], [(",", None), (".", ",")], ()),
        (["250.000", "120.500"], [(".", None), (",", ".")], ()),
        # No thousand begins with a zero.
        (["0.567", "1.234"], [(".", None)], ()),
    ],
)
def test_numbers_are_found_in_the_way_they_are_written(
    texts: list[str], ways: list[tuple[str, str | None]], signs: tuple[str, ...]
) -> None:
    form = sniff_numbers(texts)
    assert form is not None
    assert (list(form.ways), form.signs) == (ways, signs)


@pytest.mark.parametrize("texts", [["A1", "B2"], ["12 apples", "3 pears"], ["10.1.2.3", "10.1.2.4"], []])
def test_text_is_no_number(texts: list[str]) -> None:
    assert sniff_numbers(texts) is None


def test_whole_numbers_with_zeros_in_front_are_codes() -> None:
    assert sniff(["01067", "10115"], []).kind == "text"
    assert sniff(["1067", "10115"], []).kind == "number"


@pytest.mark.parametrize(
    ("texts", "formats", "choices"),
    [
        (["13/05/1987", "03/04/2020"], ("%d/%m/%Y",), ()),
        (["05/13/1987", "03/04/2020"], ("%m/%d/%Y",), ()),
        (["03/04/2020", "01/02/2021"], (), (("%d/%m/%Y", "%m/%d/%Y"),)),
        (["13/05/1987", "05/13/1987"], (), (("%d/%m/%Y", "%m/%d/%Y"),)),
        (["13.05.1987", "13.06.1987", "14/05/1987"], ("%d.%m.%Y", "%d/%m/%Y"), ()),
        (["2020-01-31", "2020-01-31 12:30", "2020-01-31T12:30:00Z"], ("iso",), ()),
        (["13.05.2021 14:30"], ("%d.%m.%Y %H:%M",), ()),
        (["03/28/2024 01:45 PM"], ("%m/%d/%Y %I:%M %p",), ()),
        (["3 May 2021", "12 June 2021"], ("%d %b %Y", "%d %B %Y"), ()),
        (["20210531"], ("%Y%m%d",), ()),
    ],
)
def test_dates_are_found_in_the_formats_they_are_written_in(
    texts: list[str], formats: tuple[str, ...], choices: tuple[tuple[str, str], ...]
) -> None:
    form = sniff_dates(texts)
    assert form is not None
    assert (form.formats, form.choices) == (formats, choices)


@pytest.mark.parametrize("texts", [["31/02/2020"], ["1.5", "2.25"], ["99999999"], ["10:30"], ["12-34-5678"]])
def test_what_is_no_day_is_no_date(texts: list[str]) -> None:
    assert sniff_dates(texts) is None


def test_an_offset_is_noticed() -> None:
    aware, naive = sniff_dates(["2023-10-29T02:30:00+02:00"]), sniff_dates(["2023-10-29T02:30:00"])
    assert aware is not None
    assert naive is not None
    assert (aware.offsets, naive.offsets) == (True, False)


@pytest.mark.parametrize(
    ("texts", "unit"),
    [
        (["1698371466", "1700000000"], "seconds"),
        (["1698371466000"], "milliseconds"),
        (["1698371466000000"], "microseconds"),
        (["12", "13"], None),
        (["4930123456789"], None),
    ],
)
def test_unix_times_are_found_by_their_size(texts: list[str], unit: str | None) -> None:
    assert sniff_unix(texts) == unit


def test_words_for_true_and_false_are_found_and_spelled_as_known() -> None:
    form = sniff(["Ja", "NEIN", "yes", "NA"], ["NA"])
    assert (form.kind, form.true, form.false) == ("flag", ("yes", "ja"), ("nein",))
    assert sniff(["M", "F"], []).kind == "text"


def test_markers_for_null_are_found_among_known_ones_alone() -> None:
    columns = {"a": ["12", "na", "-", "secret"], "b": ["UNBEKANNT", "?"]}
    assert null_markers(columns) == ["NA", "-", "?", "unbekannt"]


def test_typing_mistakes_do_not_hide_what_most_values_are() -> None:
    assert sniff(["13/05/1987"] * 30 + ["31/02/1987"], []).kind == "moment"
    assert sniff(["1,5"] * 30 + ["l,5"], []).kind == "number"
