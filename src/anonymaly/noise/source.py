# SPDX-License-Identifier: Apache-2.0
"""`Noise`, where all releases get their randomness."""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from anonymaly.core.arrays import Booleans, Integers
from anonymaly.errors import InputError
from anonymaly.noise import arrays, choice, thinning
from anonymaly.noise.array_checks import read_integers
from anonymaly.noise.binomial import binomial
from anonymaly.noise.chacha import IMPOSSIBLE_DRAW, Words, check, open_stream
from anonymaly.noise.checks import LARGEST_COUNT, read_integer, read_rate
from anonymaly.noise.draws import shuffle
from anonymaly.noise.geometric import geometric_table
from anonymaly.noise.keyed import KeyedNoise
from anonymaly.noise.partition import LARGEST_EXPONENT, partition
from anonymaly.noise.probability import ExactProbability, decide, floor_of, read_probability

Probability = Fraction | ExactProbability
Mechanism = Literal["permute_and_flip", "exponential"]

PREFIX_BITS = 31  # one word decides all but one Bernoulli draw in two billion
# Chunks of arrays use nonces whose last word is 0, so this one is free for single numbers.
WORDS_NONCE = (0, 0, 1)


class Noise:
    """Exact random draws; every call has a fresh key, and nothing is kept between calls.

    Examples
    --------
    >>> noise = Noise.seeded(1)
    >>> noise.two_sided_geometric(Fraction(1, 10), 5).tolist()
    [-21, -12, 1, -5, -3]
    >>> noise.bernoulli_exp(Fraction(1, 2))
    True
    """

    # There is no generator state that a forked child or a second thread could share or repeat: each public
    # method asks for a key once, and all its bits come from that key.

    def __init__(self, fresh_key: Callable[[], bytes], *, reproducible: bool) -> None:
        self._fresh_key = fresh_key
        self._reproducible = reproducible

    def __repr__(self) -> str:
        return "Noise.seeded(...)" if self._reproducible else "Noise.system()"

    @property
    def reproducible(self) -> bool:
        """Whether a seed determines the draws; such noise protects nobody and must not be released."""
        return self._reproducible

    @classmethod
    def system(cls) -> Noise:
        """Return noise keyed by the operating system, for releases.

        Examples
        --------
        >>> Noise.system().reproducible
        False
        """
        return cls(lambda: os.urandom(32), reproducible=False)

    @classmethod
    def seeded(cls, seed: int) -> Noise:
        """Return noise that repeats from run to run, for simulations on public data.

        Examples
        --------
        >>> bool(Noise.seeded(7).uniform(100) == Noise.seeded(7).uniform(100))
        True
        """
        seed = read_integer(seed, "seed")
        calls = itertools.count()

        def fresh_key() -> bytes:
            return hashlib.sha256(f"anonymaly noise seed {seed} call {next(calls)}".encode()).digest()

        return cls(fresh_key, reproducible=True)

    @staticmethod
    def keyed(key: bytes) -> KeyedNoise:
        """Return noise that is a function of a secret key and an index.

        Examples
        --------
        >>> Noise.keyed(bytes(32)).two_sided_geometric_at(Fraction(1, 10), 7)
        10
        """
        return KeyedNoise(key)

    @overload
    def two_sided_geometric(self, rate: Fraction, size: None = None) -> int: ...

    @overload
    def two_sided_geometric(self, rate: Fraction, size: int) -> Integers: ...

    def two_sided_geometric(self, rate: Fraction, size: int | None = None) -> int | Integers:
        """Draw x with probability proportional to exp(-rate·|x|): the discrete Laplace law.

        Parameters
        ----------
        rate : Fraction
            ε over the sensitivity; numerator and denominator at most 2^56.
        size : int, optional
            The number of draws; one, as an int, if not given.

        Examples
        --------
        >>> Noise.seeded(3).two_sided_geometric(Fraction(1, 100))
        -121
        """
        return self._integers(arrays.two_sided_geometric, size, geometric_table(*read_rate(rate)))

    @overload
    def one_sided_geometric(self, rate: Fraction, size: None = None) -> int: ...

    @overload
    def one_sided_geometric(self, rate: Fraction, size: int) -> Integers: ...

    def one_sided_geometric(self, rate: Fraction, size: int | None = None) -> int | Integers:
        """Draw x >= 0 with probability proportional to exp(-rate·x).

        Examples
        --------
        >>> Noise.seeded(3).one_sided_geometric(Fraction(1, 100), 3).tolist()
        [121, 40, 213]
        """
        return self._integers(arrays.one_sided_geometric, size, geometric_table(*read_rate(rate)))

    def add_two_sided_geometric(self, counts: npt.ArrayLike, rate: Fraction) -> Integers:
        """Add two-sided geometric noise to integers of size below 2^62, exactly.

        Examples
        --------
        >>> Noise.seeded(3).add_two_sided_geometric([2**53 + 1, 0], Fraction(1)).tolist()
        [9007199254740992, -1]
        """
        counts = read_integers(counts, "counts")
        noise = self.two_sided_geometric(rate, counts.size).reshape(counts.shape)
        # Decided by the noise alone, so that a failure says nothing about the counts. The chance is below
        # exp(-2^62·rate): 2^-90 at the smallest rate accepted, 2^-6000 at ε = 1e-9 and sensitivity 10^6.
        if noise.size and max(int(noise.max()), -int(noise.min())) > LARGEST_COUNT:
            raise OverflowError(IMPOSSIBLE_DRAW)
        return counts + noise

    def deciding_numbers(self, counts: npt.ArrayLike, rate: Fraction) -> Integers:
        """Do the same to numbers that decide what is drawn next: an audit goes on from what they are.

        Examples
        --------
        >>> Noise.seeded(3).deciding_numbers([10, 0], Fraction(1)).tolist()
        [9, -1]
        """
        return self.add_two_sided_geometric(counts, rate)

    @overload
    def bernoulli_exp(self, rate: Fraction, size: None = None) -> bool: ...

    @overload
    def bernoulli_exp(self, rate: Fraction, size: int) -> Booleans: ...

    def bernoulli_exp(self, rate: Fraction, size: int | None = None) -> bool | Booleans:
        """Draw true with probability exp(-rate), for a rate of 0 or more.

        Examples
        --------
        >>> Noise.seeded(3).bernoulli_exp(Fraction(0), 2).tolist()
        [True, True]
        """
        output = np.empty(_length(size), np.bool_)
        arrays.fill(arrays.bernoulli_exp, self._fresh_key(), output, read_rate(rate, zero_allowed=True))
        return bool(output[0]) if size is None else output

    @overload
    def bernoulli(self, probability: Probability, size: None = None) -> bool: ...

    @overload
    def bernoulli(self, probability: Probability, size: int) -> Booleans: ...

    def bernoulli(self, probability: Probability, size: int | None = None) -> bool | Booleans:
        """Draw true with a probability given exactly.

        Parameters
        ----------
        probability : Fraction or ExactProbability
            From 0 to 1.
        size : int, optional
            The number of draws; one, as a bool, if not given.

        Examples
        --------
        >>> kept = ExactProbability.exponential(Fraction(1, 10)).complement()
        >>> int(Noise.seeded(3).bernoulli(kept, 1000).sum())
        103
        """
        bounds = read_probability(probability)
        length = _length(size)
        key = self._fresh_key()
        threshold, exact = floor_of(bounds, PREFIX_BITS)
        settled = np.empty(length, np.uint8)
        arrays.fill(arrays.compare, key, settled, threshold, PREFIX_BITS)
        words = Words(key, WORDS_NONCE)
        for position in np.flatnonzero(settled == arrays.UNDECIDED):
            settled[position] = not exact and decide(words, bounds, threshold, PREFIX_BITS)
        return bool(settled[0]) if size is None else settled.astype(np.bool_)

    @overload
    def uniform(self, bound: int, size: None = None) -> int: ...

    @overload
    def uniform(self, bound: int, size: int) -> npt.NDArray[Any]: ...

    def uniform(self, bound: int, size: int | None = None) -> int | npt.NDArray[Any]:
        """Draw uniform integers from 0 to bound - 1.

        Arrays hold 64-bit integers for bounds up to 2^63, and Python integers for larger ones.

        Examples
        --------
        >>> Noise.seeded(3).uniform(6, 4).tolist()
        [4, 0, 3, 2]
        >>> Noise.seeded(3).uniform(10**30)
        775254455003292526159031618441
        """
        bound = read_integer(bound, "bound", least=1)
        if bound <= 2**63:
            return self._integers(arrays.uniform, size, bound - 1)
        length = _length(size)
        words = Words(self._fresh_key(), WORDS_NONCE)
        if size is None:
            return words.below(bound)
        return np.array([words.below(bound) for _ in range(length)], dtype=object)

    def permutation(self, size: int) -> Integers:
        """Draw an order of the numbers from 0 to size - 1, each as likely as any other.

        Examples
        --------
        >>> Noise.seeded(3).permutation(5).tolist()
        [2, 4, 1, 0, 3]
        """
        order = np.arange(read_integer(size, "size"), dtype=np.int64)
        stream = open_stream(self._fresh_key())
        shuffle(stream, order)
        check(stream)
        return order

    def binomial(self, trials: int, probability: Probability) -> int:
        """Draw the number of successes among any number of trials.

        Examples
        --------
        >>> tail = ExactProbability.logistic(Fraction(50), Fraction(1))
        >>> Noise.seeded(3).binomial(10**30, tail)
        140981249
        """
        trials = read_integer(trials, "trials")
        bounds = read_probability(probability)
        return binomial(Words(self._fresh_key(), WORDS_NONCE), trials, bounds)

    def thin(self, counts: npt.ArrayLike, probability: Probability) -> Integers:
        """Keep each counted thing with the same probability; return how many of each count are kept.

        Parameters
        ----------
        counts : array of int
            The numbers of things, at least 0; the array may have any shape.
        probability : Fraction or ExactProbability
            The probability of keeping a thing, from 0 to 1.

        Examples
        --------
        >>> kept = ExactProbability.exponential(Fraction(1)).complement()
        >>> Noise.seeded(3).thin([0, 10, 1000], kept).tolist()
        [0, 6, 635]
        """
        trials = read_integers(counts, "counts")
        if trials.size and int(trials.min()) < 0:
            raise InputError("must not be negative", field="counts", next_step="Give counts of at least 0.")
        bounds = read_probability(probability)
        key = self._fresh_key()
        if bounds(1) == (2, 2):
            return trials
        flat = trials.ravel()
        output, level = np.empty(flat.size, np.int64), np.empty(flat.size, np.int64)
        arrays.fill(thinning.thin, key, output, level, flat, thinning.digits_of(bounds))
        words = Words(key, WORDS_NONCE)
        for position in np.flatnonzero(level):
            decided = thinning.DIGITS if flat[position] <= thinning.COUNTED else 0
            output[position] += binomial(words, int(level[position]), bounds, decided=decided)
        return output.reshape(trials.shape)

    def partition(self, exponents: npt.ArrayLike) -> Integers:
        """Cut a row of n cells into runs of 1, 2, 4, ... cells, by the product of the runs' weights.

        Every partition's probability is right up to a factor within exp(±`partition_error(n, sizes)`).

        Parameters
        ----------
        exponents : array of int, sizes × (n + 1)
            Row k, column i: e of the run of 2^k cells that ends before cell i; its weight is 2^(-e/2^30).
            Below 2^61 in size. If i < 2^k there is no such run, and the number is not read.

        Returns
        -------
        array of int
            The lengths of the runs, from first to last.

        Examples
        --------
        >>> flat = np.zeros((3, 11), np.int64)
        >>> flat[0] = 8 << 30  # a run of one cell weighs 2^-8
        >>> Noise.seeded(3).partition(flat).tolist()
        [2, 2, 2, 4]
        """
        numbers = np.ascontiguousarray(read_integers(exponents, "exponents"))
        if numbers.ndim != 2 or numbers.shape[0] < 1 or numbers.shape[1] < 1:
            raise InputError(
                "must have a row for each size and a column for each end",
                field="exponents",
                next_step="Give an array of shape (sizes, cells + 1).",
            )
        if numbers.size and max(int(numbers.max()), -int(numbers.min())) > LARGEST_EXPONENT:
            raise InputError(
                "must be below 2^61 in size", field="exponents", next_step="Give smaller exponents."
            )
        stream = open_stream(self._fresh_key())
        lengths = partition(stream, numbers)
        check(stream)
        return lengths

    def choose(
        self,
        utilities: npt.ArrayLike,
        rate: Fraction,
        mechanism: Mechanism = "permute_and_flip",
        valid: npt.ArrayLike | None = None,
    ) -> int:
        """Choose the index of one candidate, those of higher utility more likely.

        Parameters
        ----------
        utilities : array of int
            One for each candidate, below 2^62 in size.
        rate : Fraction
            The weight of one unit of utility: exp(rate·utility) for the exponential mechanism.
        mechanism : {"permute_and_flip", "exponential"}
            Permute-and-flip costs the same privacy and its choice is never worse on average.
        valid : array of bool, optional
            Which candidates may be chosen; all if not given.

        Examples
        --------
        >>> Noise.seeded(3).choose([10, 500, 490], Fraction(1, 10))
        1
        """
        numbers = read_integers(utilities, "utilities")
        exact_rate = Fraction(*read_rate(rate))
        if numbers.ndim != 1:
            raise InputError(
                "must have one dimension",
                field="utilities",
                next_step="Give one whole number for each candidate.",
            )
        if mechanism not in ("permute_and_flip", "exponential"):
            raise InputError(
                "is not known", field="mechanism", next_step='Use "permute_and_flip" or "exponential".'
            )
        candidates = None
        if valid is not None:
            mask = np.asarray(valid)
            if mask.dtype != np.bool_ or mask.shape != numbers.shape:
                raise InputError(
                    "must hold one true or false for each utility",
                    field="valid",
                    next_step="Give an array of bool of the same shape as utilities.",
                )
            candidates = np.flatnonzero(mask)
            numbers = numbers[candidates]
        if numbers.size == 0:
            raise InputError(
                "holds no candidate to choose from",
                field="utilities",
                next_step="Give at least one valid candidate.",
            )
        key = self._fresh_key()
        words = Words(key, WORDS_NONCE)
        if mechanism == "exponential":
            chosen = choice.exponential(words, numbers, exact_rate)
        else:
            chosen = choice.permute_and_flip(key, words, numbers, exact_rate)
        return chosen if candidates is None else int(candidates[chosen])

    def _integers(self, kernel: Callable[..., bool], size: int | None, argument: Any) -> int | Integers:
        output = np.empty(_length(size), np.int64)
        arrays.fill(kernel, self._fresh_key(), output, argument)
        return int(output[0]) if size is None else output


def _length(size: int | None) -> int:
    return 1 if size is None else read_integer(size, "size")
