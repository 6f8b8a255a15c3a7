"""`read`, the one door for data: it looks at what it was given and calls the reader for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Literal, cast

from ..errors import Message, MisuseError
from ..wording import hint_keywords
from ._allowance import MEMORY, Allowance
from ._build import cap, check_cap, finish
from ._call import TABLE, TEXT, Call
from ._core import AnyBaskets, Baskets, Item
from ._formats import Format
from ._frames import is_result, is_spark_frame
from ._naming import Names, named_rows


@hint_keywords
def read(
    source: Any = None,
    *,
    person: str | None = None,
    item: str | None = None,
    basket: str | None = None,
    time: str | None = None,
    pair: tuple[str, str] | None = None,
    by: str | None = None,
    query: str | None = None,
    format: Format | None = None,  # noqa: A002
    delimiter: str | None = None,
    encoding: str | None = None,
    labels: Literal["numbers", "names"] | Sequence[Item] | None = None,
    names: Any = None,
    same_names: Literal["apart", "merge"] | None = None,
    ordered: bool = False,
    max_items: int | None = None,
    nulls: Literal["error", "drop"] = "error",
    seed: int | None = None,
    memory: str = MEMORY,
    engine: Literal["spark"] | None = None,
    progress: Callable[[float], object] | None = None,
) -> Baskets:
    """Read baskets: from a file, a database, a data frame, a sparse matrix, or a list of sets.

    Parameters
    ----------
    source
        One of

        - the path of a regular file. The suffix tells the format, before ``.gz``, ``.bz2``, ``.xz``, ``.zst`` or
          ``.zip``. ``.dat`` and ``.txt`` are FIMI text: one basket per line, blanks between items. ``.csv`` and
          ``.tsv`` are a table with a header if `person` is given. Otherwise they have one basket per line, each field
          an item; what looks like a table is then refused, unless `format` is ``"baskets"``. ``.jsonl``, ``.ndjson``
          and ``.json`` are records if `person` is given. Otherwise they have one basket per line: a list, or an object
          with the list ``items`` and perhaps a list ``pairs`` of pairs. There are also ``.parquet`` and ``.pq``,
          ``.feather`` and ``.arrow``, ``.xlsx`` (with the extra `excel`), and ``.db``, ``.sqlite`` and ``.duckdb``
          with a `query`. A blank line of text is an empty basket.
        - a pattern, as in ``"sales/*.parquet"``, a folder, or a list of files: all of them as one table with `person`,
          or else with their baskets after one another. Folders such as ``country=DE`` are a column.
        - an open file, or ``"-"`` for standard input; `format` says what it is, where no name tells it.
        - the address of a table elsewhere, ``https://…`` or ``s3://…``, where DuckDB has its extension for it.
        - the address of a database, with a `query`: ``sqlite:///file.db``, ``duckdb:///file.duckdb``,
          ``postgresql://user@host/name``.
        - nothing, with a `query` over files: ``query="SELECT customer, product FROM 'sales.parquet'"``.
        - a data frame or table (pandas, polars, also lazy, pyarrow, also a dataset, a DuckDB relation: anything with
          the Arrow C stream), a dictionary of columns, or dictionaries, one for each row. If all its
          columns are true/false it is one-hot: one column per item, one row per basket. A single column of lists (a
          Series, an Arrow array) has one basket per row.
        - a scipy sparse matrix: one row per basket, one column per item, and what is not zero is held; or a numpy array
          of true and false.
        - an iterable of sets, lists or tuples of items; or a dictionary from each person to such a basket.
        - a data frame of Spark, with `person` and `item`, or with one column of lists: the baskets stay in the cluster.
        - `Baskets`, which pass through, or are capped.

        An option that means nothing for a source is refused.
    person, item
        The columns of a table with one row per item. All rows of a person become one basket, and people come in the
        order of that column. A row without an item says that the person exists. `item` may be a column of lists; a
        table of lists needs no `person`: then a row is a basket.
    time
        A column that orders a person's events, which are kept as `Baskets.sequences`. Events at the same time are
        listed by item, and known to be at the same time.
    basket
        A column that tells the baskets of a person apart, such as a receipt or a day. Counts are then of baskets, and
        the unit of privacy stays the person: see :doc:`/receipts`. Without it all rows of a person are one basket.
    pair
        Two columns: each row that has both gives its person a pair, kept as `Baskets.pairs`. The basket is the items
        of the pairs, and those of `item` where that is given too.
    by
        A column with the segment of each person, such as a region, kept as `Baskets.segments` for a release by
        segment. Everyone must have one value there, in one row or more.
    query
        SQL for a database, or for DuckDB over files: one statement that reads. Anything else is refused.
    format
        The format, where the suffix does not tell it: ``fimi``, ``csv``, ``tsv``, ``json``, ``parquet``,
        ``feather``, ``excel``, ``sqlite``, ``duckdb``. ``baskets`` is for CSV or TSV that looks like a table, but has
        one basket per line. ``onehot`` is for a data frame, or an array, of zeros and ones.
    delimiter, encoding
        What stands between the fields of CSV, and how text is encoded: ``";"``, ``"windows-1252"``. By default the
        names of the columns in line 1 tell the delimiter; in baskets without commas, most lines do. A byte order mark
        tells the encoding, which is UTF-8 without one.
    labels
        ``"numbers"`` or ``"names"``, to say what items are. By default the type of the column, or of the JSON value,
        says it. In text with one basket per line the first line with items decides. They are numbers if all of them are
        digits without a leading zero and fit 64 bits. In a CSV table the same must hold for the whole column. For a
        sparse matrix or a one-hot table, the list of the columns' names.
    names, same_names
        What the items of the data are called, where these are codes: a table of codes and names (a file, a data frame,
        a dictionary), which is public. Codes of one name stay different items, shown as ``Emma (1996) [838]``; with
        ``same_names="merge"`` they are one item. See :doc:`/data`.
    ordered
        Keep the order of the items in each line or list, repeats included, as `Baskets.sequences`.
    max_items
        Keep at most so many items of each basket, chosen uniformly at random. Order and pairs keep the chosen items.
        The choice depends on the basket alone, so equal baskets keep the same items.
    nulls
        What to do with rows that have no person (or an item without a time): ``"error"`` or ``"drop"``. The person
        of an item without a time stays.
    seed
        Makes the choice of `max_items` repeatable.
    memory
        How much memory grouping a table may take before it goes to disk. It also bounds what is read: more than that is
        refused.
    engine
        ``"spark"`` lets Spark read the files and keep the baskets, in the session that is active: for data that outgrow
        this machine. See :doc:`/spark`.
    progress
        Called now and then with the fraction done.

    Returns
    -------
    Baskets
        Codes are in the order of the labels: numbers by size, names by their text.

    Examples
    --------
    >>> import discreet
    >>> baskets = discreet.read([{"tea", "milk"}, {"milk", "bread"}, set()])
    >>> baskets
    Baskets(3 people, 3 items, 1.33 per basket)
    >>> sorted(baskets[1])
    ['bread', 'milk']

    A table has a column for the person and one for the item:

    >>> import pyarrow
    >>> sales = pyarrow.table({"customer": [7, 7, 3], "product": ["tea", "milk", "tea"]})
    >>> [sorted(basket) for basket in discreet.read(sales, person="customer", item="product")]
    [['tea'], ['milk', 'tea']]
    """
    call = Call(
        person=person,
        item=item,
        basket=basket,
        time=time,
        pair=pair,
        by=by,
        query=query,
        format=format,
        delimiter=delimiter,
        encoding=encoding,
        labels=labels,
        ordered=ordered,
        nulls=nulls,
        allowed=Allowance.of(memory),
        progress=progress,
    )
    # Where they lie in a cluster, all that is public of Baskets is there too.
    return cast(Baskets, _read(source, call, max_items, seed, engine, _names(names, same_names)))


def read_people(
    source: Any = None,
    *,
    otherwise: str | Message,
    max_items: int | None = None,
    seed: int | None = None,
    engine: Literal["spark"] | None = None,
    **options: Any,
) -> AnyBaskets:
    """Read as :func:`read` does, but ask who is who instead of taking rows for people.

    A table that has other columns beside its items may hold several rows of one person, and so may a CSV file. Unless
    `person` is among the options this is refused, with `otherwise` to say what to do.
    """
    allowed = Allowance.of(options.pop("memory", MEMORY))
    names = _names(options.pop("names", None), options.pop("same_names", None))
    return _read(source, Call(**options, allowed=allowed, otherwise=otherwise), max_items, seed, engine, names)


def _names(names: Any, same_names: Any) -> Names | None:
    """Return what codes are called, if that was given."""
    if names is None:
        if same_names is not None:
            raise MisuseError.format("{same_names} says which items names stand for: give {names=} too.")
        return None
    return Names.read(names, "apart" if same_names is None else same_names)


def _read(
    source: Any, call: Call, max_items: int | None, seed: int | None, engine: str | None, names: Names | None
) -> AnyBaskets:
    check_cap(max_items, seed)
    if engine not in (None, "spark"):
        raise MisuseError.format(
            "{engine} is 'spark', or left out for this machine; {given!r} was given.", given=engine
        )
    if isinstance(source, AnyBaskets):
        call.refuse("Baskets pass through as they are", *TABLE, "query", "format", *TEXT, "labels", "ordered")
        if names is not None:
            raise MisuseError.format("Baskets pass through as they are: give {names=} where they are read.")
        if max_items is None:
            return source
        if not isinstance(source, Baskets):
            raise MisuseError.format("Baskets in a cluster are capped where they are read: give {max_items=} there.")
        return cap(source, max_items, seed)
    if is_result(source):
        kind = type(source).__name__
        raise MisuseError(
            f"The source is {'an' if kind[0] in 'AEIOU' else 'a'} {kind}, which was found in data: give the data, and "
            "not what was found in them."
        )
    if engine is not None or is_spark_frame(source):
        if names is not None:
            raise MisuseError.format(
                "Baskets in a cluster keep their codes: leave {names} out, or read on this machine."
            )
        reading = import_module("discreet.spark._reading")
        return cast(AnyBaskets, reading.read_frame(source, call, max_items, seed))
    name, rows = call.rows(source)
    if names is not None:
        rows = named_rows(rows, names)
    if call.ordered and rows.pairs is not None:
        raise MisuseError.format("{name}: {ordered=True} does not go with given pairs, which have no order.", name=name)
    ordered = call.ordered or call.time is not None
    baskets = finish(rows, name=name, ordered=ordered, max_items=max_items, seed=seed)
    if call.progress is not None:
        call.progress(1.0)
    return baskets
