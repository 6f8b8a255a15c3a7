"""`read`, the public function for data: checks its options and calls the reader of the source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Literal, cast

from ..errors import Message, MisuseError
from ..wording import hint_keywords
from ._build import build_baskets, cap_items, check_item_cap
from ._call import TABLE, TEXT, ReadOptions
from ._core import AnyBaskets, Baskets, Item
from ._frames import is_result, is_spark_frame
from ._naming import Names, named_rows
from ._places import Format
from ._streams import MEMORY, MemoryLimit


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
          an item; text that looks like a table is then refused, unless `format` is ``"baskets"``. ``.jsonl``,
          ``.ndjson`` and ``.json`` are records if `person` is given. Otherwise they have one basket per line: a list,
          or an object with the list ``items`` and perhaps a list ``pairs`` of pairs. There are also ``.parquet`` and
          ``.pq``, ``.feather`` and ``.arrow``, ``.xlsx`` (with the extra `excel`), and ``.db``, ``.sqlite`` and
          ``.duckdb`` with a `query`. A blank line of text is an empty basket.
        - a pattern, as in ``"sales/*.parquet"``, a folder, or a list of files: all of them as one table with `person`,
          or else one after another. Folders named as ``country=DE`` are a column.
        - an open file, or ``"-"`` for standard input; without a name, `format` is required.
        - the address of a remote table, ``https://…`` or ``s3://…``, if DuckDB has the extension installed.
        - the address of a database, with a `query`: ``sqlite:///file.db``, ``duckdb:///file.duckdb``,
          ``postgresql://user@host/name``.
        - nothing, with a `query` over files: ``query="SELECT customer, product FROM 'sales.parquet'"``.
        - a data frame or table (pandas, polars, also lazy, pyarrow, also a dataset, a DuckDB relation: anything with
          the Arrow C stream), a dictionary of columns, or dictionaries, one for each row. If all its
          columns are true/false it is one-hot: one column per item, one row per basket. A single column of lists (a
          Series, an Arrow array) has one basket per row.
        - a scipy sparse matrix: one row per basket, one column per item, and an item is held if its value is not zero;
          or a numpy array of true and false.
        - an iterable of sets, lists or tuples of items; or a dictionary from each person to such a basket.
        - a data frame of Spark, with `person` and `item`, or with one column of lists: the baskets stay in the cluster.
        - `Baskets`, which are returned unchanged, or capped.

        An option without a meaning for the source is refused.
    person, item
        The columns of a table with one row per item. All rows of a person become one basket, and people come in the
        order of that column. A row without an item means that the person exists. `item` may be a column of lists; a
        table of lists needs no `person`: then a row is a basket.
    time
        A column that orders a person's events, which become `Baskets.sequences`. Simultaneous events are sorted by item
        and marked as simultaneous.
    basket
        A column that separates the baskets of a person, such as a receipt or a day. Counts are then of baskets, and
        the unit of privacy stays the person: see :doc:`/receipts`. Without it all rows of a person are one basket.
    pair
        Two columns: each row with both values adds a pair of its person to `Baskets.pairs`. The basket has the items
        of the pairs, and the items of the column `item`, if given.
    by
        A column with the segment of each person, such as a region, which becomes `Baskets.segments` for a release by
        segment. Each person must have exactly one value there, in one row or more.
    query
        SQL for a database, or for DuckDB over files: one statement that reads; other statements are refused.
    format
        The format, if the suffix does not determine it: ``fimi``, ``csv``, ``tsv``, ``json``, ``parquet``,
        ``feather``, ``excel``, ``sqlite``, ``duckdb``. ``baskets`` is for CSV or TSV that looks like a table but has
        one basket per line. ``onehot`` is for a data frame, or an array, of zeros and ones.
    delimiter, encoding
        The character between the fields of CSV, such as ``";"``, and the encoding of text, such as ``"windows-1252"``.
        By default the column names in line 1 determine the delimiter; in baskets without commas, most lines do. A byte
        order mark determines the encoding; without one it is UTF-8.
    labels
        ``"numbers"`` or ``"names"``, the type of the items. By default it is the type of the column or of the JSON
        value. In text with one basket per line the first line with items decides: items are numbers if all are digits
        without a leading zero and fit 64 bits. In a CSV table this must hold for the whole column. For a sparse matrix
        or a one-hot table, `labels` is the list of the column names.
    names, same_names
        A public table of the names of codes (a file, a data frame, a dictionary), for data with codes as items. Codes
        with equal names stay different items, as ``Emma (1996) [838]``; with ``same_names="merge"`` they are one item.
        See :doc:`/data`.
    ordered
        Keep the order of the items in each line or list, repeats included, as `Baskets.sequences`.
    max_items
        The largest number of items per basket, 1 or more. Larger baskets keep a uniform random choice of items, and
        their order and pairs keep them. The choice depends on the basket alone, so equal baskets stay equal.
    nulls
        ``"error"`` to refuse rows without a person, or with an item but without a time; ``"drop"`` to drop them.
        The person of an item without a time stays.
    seed
        Makes the choice of `max_items` repeatable.
    memory
        The memory that grouping a table may take before it writes to disk, as text such as ``"2GB"``. It also bounds
        the size of the baskets: larger data are refused.
    engine
        ``"spark"`` reads the files and keeps the baskets in the active Spark session, for data too large for this
        machine. See :doc:`/spark`.
    progress
        A function that is called from time to time with the fraction of the work done, 0 to 1.

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
    # The first statement, so that the local names are the parameters alone.
    options = locals()
    # Baskets in a cluster have all public attributes of Baskets.
    return cast(Baskets, read_people(person_advice=None, **options))


def read_people(
    source: Any = None,
    *,
    person_advice: str | Message | None,
    max_items: int | None = None,
    seed: int | None = None,
    memory: str = MEMORY,
    engine: Literal["spark"] | None = None,
    names: Any = None,
    same_names: Literal["apart", "merge"] | None = None,
    **options: Any,
) -> AnyBaskets:
    """Return the baskets that :func:`read` reads, but refuse sources that may have several rows per person.

    A table with more columns than its items may have several rows per person, and so may a CSV file. Without `person`
    they are refused, because a release protects people; `person_advice` ends the message. None allows these sources.
    """
    call = ReadOptions(**options, memory_limit=MemoryLimit.parse(memory), person_advice=person_advice)
    return _read(source, call, max_items, seed, engine, _read_names(names, same_names))


def _read_names(names: Any, same_names: Any) -> Names | None:
    """Return the names of codes, or None if the option `names` is not set."""
    if names is None:
        if same_names is not None:
            raise MisuseError.format("{same_names} says which items names stand for: give {names=} too.")
        return None
    return Names.read(names, "apart" if same_names is None else same_names)


def _read(
    source: Any, call: ReadOptions, max_items: int | None, seed: int | None, engine: str | None, names: Names | None
) -> AnyBaskets:
    # Options are checked before a source is opened: reading may take minutes.
    check_item_cap(max_items, seed)
    if engine not in (None, "spark"):
        raise MisuseError.format(
            "{engine} is 'spark', or left out for this machine; {given!r} was given.", given=engine
        )
    if isinstance(source, AnyBaskets):
        call.refuse_options("Baskets pass through as they are", *TABLE, "query", "format", *TEXT, "labels", "ordered")
        if names is not None:
            raise MisuseError.format("Baskets pass through as they are: give {names=} where they are read.")
        if max_items is None:
            return source
        if not isinstance(source, Baskets):
            raise MisuseError.format("Baskets in a cluster are capped where they are read: give {max_items=} there.")
        return cap_items(source, max_items, seed)
    # A result is a table too, and would be read as data without this check.
    if is_result(source):
        type_name = type(source).__name__
        raise MisuseError(
            f"The source is {'an' if type_name[0] in 'AEIOU' else 'a'} {type_name}, which was found in data: give the "
            "data, and not what was found in them."
        )
    if engine is not None or is_spark_frame(source):
        if names is not None:
            raise MisuseError.format(
                "Baskets in a cluster keep their codes: leave {names} out, or read on this machine."
            )
        spark_reader = import_module("discreet.spark._reading")
        return cast(AnyBaskets, spark_reader.read_frame(source, call, max_items, seed))
    name, rows = call.read_rows(source)
    if names is not None:
        rows = named_rows(rows, names)
    if call.ordered and rows.pairs is not None:
        raise MisuseError.format("{name}: {ordered=True} does not go with given pairs, which have no order.", name=name)
    ordered = call.ordered or call.time is not None
    baskets = build_baskets(rows, name=name, ordered=ordered, max_items=max_items, seed=seed)
    if call.progress is not None:
        call.progress(1.0)
    return baskets
