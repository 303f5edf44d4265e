# SPDX-License-Identifier: Apache-2.0
"""`Curator`, which spends the budget: charge, then compute, then store, then answer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn, overload

from anonymaly import noise
from anonymaly.ask.accountant import Accountant
from anonymaly.ask.amendment import Amendment
from anonymaly.ask.answer import Answer, Preview, Previews
from anonymaly.ask.answer_list import Answers
from anonymaly.ask.binding import Binding
from anonymaly.ask.drawing import Draw, DrawSource
from anonymaly.ask.forgotten import forgotten_answers, refuse_forgotten
from anonymaly.ask.plan import Plan
from anonymaly.ask.query import Query, T
from anonymaly.core.epsilon import Number, to_nano, to_number, to_text
from anonymaly.core.rate import Adjacency
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.manifest import Manifest
from anonymaly.errors import AnswerFailed, InputError, LedgerDamaged, Refused
from anonymaly.ledger import Reservation
from anonymaly.ledger.statement import Statement
from anonymaly.promise import Relation

INTERRUPTED = "The question was charged: asking it again answers it, free of charge."


class Curator:
    """Answers questions about one dataset out of one budget.

    Parameters
    ----------
    dataset : Dataset
        The table and its declaration.
    budget : number, optional
        The most ε that all answers together may cost. Needed when the account is opened; later it may
        be left out, and a different number is an error: see ``raise_budget``.
    adjacency : {"add_remove", "replace"}
        What two neighbouring tables are: one person more, or one person's rows changed.
    ledger : path or PostgreSQL URL
        Where charges are kept; by default ``<name>.ledger`` in the working folder.
    anchor : path, optional
        A file elsewhere that holds the newest entry's hash, so that a restored old ledger is noticed.
    store : path, optional
        Where released answers are kept; by default beside the ledger.
    secret : path, optional
        The file of the owner's secret, under which the ledger keeps digests of what is asked about persons;
        by default ``<name>.secret`` beside the ledger. The first charge makes it.

    Notes
    -----
    Whoever holds the table can read it without asking. Accounts bind honest users of a library.

    Threads may share a curator, and many processes an account: whoever asks the same question at the same
    time pays for it once and gets the same bytes. A child of a fork may go on using it: it opens connections
    of its own, and no two processes ever draw the same noise. A fork waits until other threads are done with
    the table, the compiler, the ledger and its anchor, and an interrupt meanwhile is raised when it is over.
    A curator cannot be pickled: open the account again in the other process.

    Examples
    --------
    >>> import pandas
    >>> import anonymaly as am
    >>> patients = am.Dataset(pandas.DataFrame({"age": [30, 40]}), name="patients",
    ...                       columns={"age": am.Interval(0, 120)})
    >>> curator = am.Curator(patients, budget=1.0, ledger=folder / "patients.ledger")
    >>> answer = curator.ask(am.Count(where="age < 35", epsilon=0.25))
    >>> curator.remaining
    0.75
    """

    def __init__(
        self,
        dataset: Dataset,
        *,
        budget: Number | None = None,
        adjacency: Adjacency = "add_remove",
        ledger: str | Path | None = None,
        anchor: str | Path | None = None,
        store: str | Path | None = None,
        secret: str | Path | None = None,
    ) -> None:
        if not isinstance(dataset, Dataset):
            raise InputError(
                f"must be a Dataset, got {type(dataset).__name__}",
                field="dataset",
                next_step="Declare the table first: am.Dataset(table, name=…, columns=…).",
            )
        self._whole = True  # or a part of the account's table: see `about`
        self.dataset = dataset
        self.declaration = dataset.with_adjacency(adjacency)
        self.accountant = Accountant(
            self.declaration,
            limit=None if budget is None else to_nano(budget, field="budget"),
            ledger=ledger,
            anchor=anchor,
            store=store,
            secret=secret,
        )

    @classmethod
    def open(cls, path: str | Path) -> Curator:
        """Open the account that a YAML file declares."""
        manifest, folder = Manifest.load(path), Path(path).parent
        return cls(
            manifest.dataset(folder),
            budget=manifest.budget,
            adjacency=manifest.adjacency,
            ledger=manifest.ledger_location(folder),
            anchor=manifest.place(folder, manifest.anchor),
            store=manifest.store_location(folder),
            secret=manifest.secret_location(folder),
        )

    def about(self, source: Any) -> Curator:
        """Return a curator of the same account for other rows of the declared columns, such as a fold.

        Whatever is asked of it is charged to this account, and never returns an earlier answer: the rows get
        a version of their own. Which rows they are must follow from their positions alone, and their order
        must not follow from their values, as it does in a sorted table: `PrivateKFold` shuffles first. That
        keeps the account's promise if one record is replaced by another. If one comes or goes, others would
        move from part to part, so an account in that adjacency refuses.

        Only questions are answered whose promise is a matter of single records: those that protect everyone,
        or whom a policy calls sensitive. Who has many records near it in the whole table may be alone in a
        part of it.
        """
        declared = self.dataset.declaration
        if declared.person is not None or declared.key is not None:
            raise InputError(
                f"the account knows rows by {declared.person or declared.key}, which other rows do not have",
                field="person" if declared.person else "key",
                next_step="Ask the curator of the whole table.",
            )
        if self.declaration.adjacency != "replace":
            raise Refused(
                "a record that comes or goes moves others from one part of the rows to the next, so that "
                "asking about parts would break the account's promise",
                field="adjacency",
                next_step="Open the account with adjacency='replace', where every record keeps its place.",
            )
        other = Dataset(
            source,
            name=declared.name,
            # Looked up here, because `Noise` is compiled code that previews and statements do without.
            version=f"{declared.version} part {noise.Noise.system().uniform(2**64):016x}",
            columns=declared.columns,
            rules="any" if declared.any_rule else declared.rules,
            public=declared.public,
            questions=declared.questions,
        )
        account = self.accountant
        opened = declared.name in account.ledger.accounts()
        part = Curator(
            other,
            budget=None if opened or account.limit is None else to_text(account.limit),
            adjacency=self.declaration.adjacency,
            ledger=account.location,
            anchor=account.anchor,
            store=account.store.folder.parent,
            secret=account.secret.file.path,
        )
        part._whole = False
        if part.accountant.ledger.head().ledger != account.ledger.head().ledger:
            part.close()
            raise LedgerDamaged(
                f"another ledger is at {account.ledger.location}, where this account's was",
                field="ledger",
                next_step="Restore the ledger from a backup, or ask the owner what changed it.",
            )
        return part

    def __copy__(self) -> Curator:
        return self

    def __deepcopy__(self, memory: dict[int, Any]) -> Curator:
        # scikit-learn copies parameters; two handles on one account are one account.
        return self

    def __reduce__(self) -> NoReturn:
        # The table may be in memory, and would be written out with it.
        raise TypeError(
            "A Curator holds a table and connections and cannot be pickled. Open the account again where it "
            "is needed, such as by Curator.open(path) in each process: they share the one ledger."
        )

    @overload
    def preview(self, query: Query, *, repeat: int = 0) -> Preview: ...
    @overload
    def preview(self, query: Sequence[Query], *, repeat: int = 0) -> Previews: ...
    def preview(self, query: Query | Sequence[Query], *, repeat: int = 0) -> Preview | Previews:
        """Return the cost, promise and expected error of questions; reads no rows, spends nothing."""
        if isinstance(query, Sequence) and not isinstance(query, str):
            return Previews(tuple(self._preview(item, _whole(repeat)) for item in query))
        return self._preview(query, _whole(repeat))

    def plan(self, query: Query, *, for_error: float | str | None = None) -> Plan:
        """Return the least ε that gives a wanted error: the inverse of a preview.

        Reads no rows and spends nothing. What the error is, in records, as a probability or as a share, is
        the question's own: ``plan.measure`` says it. The ε of the question plays no part then; without
        ``for_error`` the plan is about that ε. ``plan.query`` is the question with the planned ε.

        Examples
        --------
        >>> import pandas
        >>> import anonymaly as am
        >>> patients = am.Dataset(pandas.DataFrame({"age": [30, 40]}), name="patients",
        ...                       columns={"age": am.Interval(0, 120)})
        >>> curator = am.Curator(patients, budget=1.0, ledger=folder / "planned.ledger")
        >>> plan = curator.plan(am.Count(epsilon=1), for_error=20)
        >>> plan.epsilon, plan.questions, plan.measure.number
        (Decimal('0.146003416'), 6, 20)
        """
        plan = self.accountant.plan(query, for_error)
        self._refuse_of_a_part(plan.guarantee.relation)
        return plan

    def rehearse(self, query: Query[T], *, rows: int | None = None, seed: int | None = None) -> Answer[T]:
        """Answer a question from invented rows: free, as often as you like, and without reading the table.

        Rows are made up from the declaration, or are those of the public stand-in that the owner named. The
        question goes the whole way that `ask` goes, and is refused where `ask` would refuse it, except for
        want of budget. Nothing is charged, stored or written into the ledger.

        Parameters
        ----------
        query : Query
            The question.
        rows : int, optional
            How many rows to invent: by default as many as are declared, up to 20,000, or 1,000.
        seed : int, optional
            Makes rows and noise repeat.
        """
        answer = self.accountant.rehearse(query, stand_in=self.dataset.stand_in, rows=rows, seed=seed)
        self._refuse_of_a_part(answer.guarantee.relation)
        return answer.labelled(query)

    def ask(self, query: Query[T], *, analyst: str = "owner", repeat: int = 0) -> Answer[T]:
        """Charge the account, answer the question, and store the answer.

        The same question again returns the stored answer, free; ``repeat=1`` pays for a fresh draw.
        ``analyst`` is a label until the account has grants. From then on whoever has none is refused, stored
        answers too, and what another asked before is charged to the analyst's own limit, once.
        """
        label, number = _label(analyst), _whole(repeat)
        # Everything up to the reservation depends on the question, the declaration and the ledger alone.
        bound = self.accountant.as_charged(self.accountant.accept(query), number)
        self._refuse_of_a_part(bound.relation)
        if self.accountant.has_grants:
            return self._ask_by_grant(bound, label, number).labelled(query)
        earlier = self.accountant.find(bound, number)
        if earlier is not None and earlier.state != "reserved":
            answer = self.accountant.answer(earlier, 0, type(bound.query))  # the table need not even be there
            return answer.labelled(query)
        if earlier is None:
            self.accountant.refuse_beyond_rules(bound)
        draw = self._source.ready(bound)
        reservation = self.accountant.reserve(bound, analyst=label, repeat=number)
        charged = bound.query.cost if reservation.charged else 0
        if reservation.state == "reserved":
            reservation = self._complete(bound, reservation, draw)
        return self.accountant.answer(reservation, charged, type(bound.query)).labelled(query)

    def _ask_by_grant(self, bound: Binding, analyst: str, repeat: int) -> Answer:
        """Ask as an analyst who must not learn whether another asked the same before."""
        accountant = self.accountant
        # Who was charged gets the stored answer, whether the table is there or not. Everybody else is refused
        # where the table is not ready, although their answer may be stored.
        mine = accountant.is_charged(bound, repeat, analyst)
        refuse_forgotten(accountant.ledger, accountant.store, accountant.find(bound, repeat))
        draw = None if mine else self._source.ready(bound)
        reservation = accountant.reserve(bound, analyst=analyst, repeat=repeat)
        charged = 0 if mine else bound.query.cost
        if reservation.state == "reserved":
            reservation = self._complete(bound, reservation, draw or self._source.ready(bound))
        if reservation.state == "failed":
            # Without its number in the ledger, which tells how much others ask.
            raise AnswerFailed(
                f"the question was charged ε={to_text(reservation.cost)} and no answer came of it",
                next_step="The charge stands; repeat= asks again at a new charge.",
            )
        return accountant.answer(reservation, charged, type(bound.query))

    def _complete(self, bound: Binding, reservation: Reservation, draw: Draw) -> Reservation:
        try:
            return self.accountant.complete(bound, reservation, draw)
        except KeyboardInterrupt as stopped:
            stopped.add_note(INTERRUPTED)
            raise

    @property
    def budget(self) -> float:
        """The most ε that all answers together may cost."""
        return to_number(self.accountant.account.limit)

    @property
    def spent(self) -> float:
        """The ε that is charged so far."""
        return to_number(self.accountant.account.spent)

    @property
    def remaining(self) -> float:
        """The ε that may still be spent."""
        return to_number(self.accountant.account.remaining)

    def answers(self) -> Answers:
        """Return every released answer, oldest first, without those that were erased."""
        erased = forgotten_answers(self.accountant.ledger, self.accountant.name)
        kept = (item for item in self.accountant.answers() if item.seq not in erased)
        return Answers(self.accountant.answer(item, 0) for item in kept)

    def answer(self, number: int) -> Answer:
        """Return a released answer by its number."""
        for item in self.accountant.answers():
            if item.seq == number:
                return self.accountant.answer(item, 0)
        raise InputError(
            f"there is no answer {number}",
            field="number",
            next_step="`answers()` lists those that were released.",
        )

    def raise_budget(self, *, to: Number) -> None:
        """Raise the budget; the ledger records when, and to what."""
        self.accountant.open()
        self.accountant.ledger.raise_limit(self.dataset.name, to_nano(to, field="to"))

    def amend(
        self, dataset: Dataset, *, reason: str, learned_from_rows: bool = False, by: str = "owner"
    ) -> Amendment:
        """Correct what was declared; the ledger records the difference and why. For the owner alone.

        Budget and charges stay, and answers stay under the declaration that they were asked under. Adjacency,
        ``public``, ``person`` and ``max_rows`` cannot be amended: the sum of charges would mean nothing.

        Parameters
        ----------
        dataset : Dataset
            The table with its corrected declaration; from now on questions are asked about it.
        reason : str
            Why it is corrected; kept for good.
        learned_from_rows : bool
            Whether the correction was learned by looking at rows. What it shows of them is then outside of
            every promise, and statements and previews say so.
        by : str
            Who corrects it.

        Returns
        -------
        Amendment
            What differs, and whom changed rules leave unprotected; if nothing differs, nothing is written.

        Examples
        --------
        >>> import pandas
        >>> import anonymaly as am
        >>> rows = pandas.DataFrame({"month": ["January", "May"]})
        >>> wrong, right = (am.Dataset(rows, name="cases", columns={"month": am.Categories(months)})
        ...                 for months in (["january", "may"], ["January", "May"]))
        >>> curator = am.Curator(wrong, budget=1, ledger=folder / "cases.ledger")
        >>> answer = curator.ask(am.Count(where="month == 'may'", epsilon=0.1))
        >>> print(curator.amend(right, reason="months begin with a capital letter"))
        columns.month.values: declared ["january","may"], now ["January","May"]
        >>> answer = curator.ask(am.Count(where="month == 'May'", epsilon=0.1))
        """
        if not isinstance(dataset, Dataset) or dataset.name != self.dataset.name:
            raise InputError(
                f"must be a Dataset called {self.dataset.name}",
                field="dataset",
                next_step="Declare the same table again, corrected. Another name is another account.",
            )
        if not self._whole:
            raise Refused(
                "an account is amended for the whole table, not for a part of its rows",
                field="dataset",
                next_step="Amend with the curator of the whole table.",
            )
        dataset.ready()  # names and types fit, or it would have to be amended again
        declaration = dataset.with_adjacency(self.declaration.adjacency)
        amendment = self.accountant.amend(
            declaration, reason=reason, learned_from_rows=learned_from_rows, by=by
        )
        if amendment.differences:
            self.dataset, self.declaration = dataset, declaration
            self.__dict__.pop("_source", None)
        return amendment

    def statement(self) -> Statement:
        """Return what was spent, and what is still promised to whom, as plain data."""
        # The account first: a charge made between the two reads is then only missing from its sum.
        account, ledger = self.accountant.account, self.accountant.ledger
        return Statement.of(
            account, ledger.reservations(self.dataset.name), ledger.entries(self.dataset.name)
        )

    def close(self) -> None:
        """Close the ledger."""
        self.accountant.ledger.close()

    def __repr__(self) -> str:
        account = self.accountant.account
        left = f"{to_text(account.remaining)} of {to_text(account.limit)}"
        return f"Curator({self.dataset.name!r}, remaining={left})"

    def _repr_html_(self) -> str:
        from anonymaly.ask.curator_page import curator_html  # noqa: PLC0415  (only notebooks)

        return curator_html(self)

    def _preview(self, query: Query, repeat: int) -> Preview:
        preview = self.accountant.preview(query, repeat)
        self._refuse_of_a_part(preview.guarantee.relation)
        return preview

    def _refuse_of_a_part(self, relation: Relation) -> None:
        """Refuse a promise about part of the rows that depends on the rows that are not in it."""
        if not (self._whole or relation.of_single_records):
            raise Refused(
                "who is protected depends on all rows of the table, so that an answer about a part of them "
                f"would break the promise; it would protect {relation.protects()}",
                field="query",
                next_step="Ask the curator of the whole table, or a question that protects everyone or whom "
                "a policy calls sensitive.",
            )

    @cached_property
    def _source(self) -> DrawSource:
        # Imports Ibis, DuckDB and numba, which previews, statements and stored answers never need.
        from anonymaly.ask.reader import Reader  # noqa: PLC0415

        return Reader(self.dataset)


def _label(analyst: str) -> str:
    if not isinstance(analyst, str) or not 0 < len(analyst) <= 100 or not analyst.isprintable():
        raise InputError(
            "must be 1 to 100 printable characters", field="analyst", next_step="Give a short name."
        )
    return analyst


def _whole(repeat: int) -> int:
    if isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 0:
        raise InputError(
            "must be a whole number of at least 0",
            field="repeat",
            next_step="0 is the stored answer, 1 a fresh draw at a new charge.",
        )
    return repeat
