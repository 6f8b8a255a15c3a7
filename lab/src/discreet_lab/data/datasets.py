"""Data sets by name: sets of the papers, if a copy is at hand, and generated sets.

The project includes no third-party data. A file is searched in the directory that ``DISCREET_DATA`` names, which must
exist, then in ``shared/data`` beside the checkout or the current directory; the error for a missing file says what to
get and where to put it. The name of a part of a larger set says that it is a part, and results must not be reported
under the name of the whole set.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from discreet.baskets import Baskets
from discreet.errors import InputError, MisuseError

from .set_aside import DRAWN, draw_half, find_first_seed, generators as aside_generators

_UCI = "UCI, CC BY 4.0"
_KDD = "KDD Cup 2000 research terms; cite Kohavi et al. 2000"
_FIMI = "the FIMI repository"


@dataclass(frozen=True, kw_only=True)
class DataSet:
    """A data set in a file.

    Parameters
    ----------
    file
        The name of the compressed file. The name without ``.xz`` is searched too.
    people, items
        The number of people and of items.
    sha256
        The SHA-256 of the uncompressed text.
    source, licence
        The source and its terms; no set is ours.
    part_of
        The larger set and the part; empty for a whole set.
    options
        The options of :func:`discreet.read`.
    """

    file: str
    people: int
    items: int
    sha256: str
    source: str
    licence: str
    part_of: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)


DATA_SETS: Mapping[str, DataSet] = {
    "retail": DataSet(
        file="retail.dat.xz",
        people=88_162,
        items=16_470,
        sha256="8eebf67a21e008e2c6a0ebe0d8ca44bb7abfd6b22386112ea0a92b4a47067092",
        source=f"Belgian supermarket baskets, Brijs et al., KDD 1999; {_FIMI}",
        licence="free use with acknowledgement, and a copy of the work to Tom Brijs",
    ),
    "mushroom": DataSet(
        file="mushroom.dat.xz",
        people=8_124,
        items=119,
        sha256="06206c73983251a9488414c4379a030e836bbeb6fe9eff1b5624a0193a811640",
        source=f"UCI Mushroom, prepared by R. Bayardo; {_FIMI}",
        licence=_UCI,
    ),
    "chess": DataSet(
        file="chess.dat.xz",
        people=3_196,
        items=75,
        sha256="341d0ff8676e053dd3b417d61f84c732736154f987ce56975a099b07460957f5",
        source=f"UCI Chess (King-Rook vs King-Pawn), prepared by R. Bayardo; {_FIMI}",
        licence=_UCI,
    ),
    "connect": DataSet(
        file="connect.dat.xz",
        people=67_557,
        items=129,
        sha256="650a92d7803c465fb08fc0e58de087ceab84cd5f0de4c6816b523774dcd6a2c9",
        source=f"UCI Connect-4 (J. Tromp), prepared by R. Bayardo; {_FIMI}",
        licence=_UCI,
    ),
    "T10I4D100K": DataSet(
        file="T10I4D100K.dat.xz",
        people=100_000,
        items=870,
        sha256="9efa76cece5dc2b677970dc41ced21830b8d12c4525646cbc4947abb03ce517d",
        source=f"synthetic, IBM Almaden Quest generator; {_FIMI}",
        licence="none stated",
    ),
    "BMS-WebView-1": DataSet(
        file="BMS-WebView-1.dat.xz",
        people=59_602,
        items=497,
        sha256="ea5189346c5f719204508c0ba3cd53a34d01181f2aebbcf65ff4ef57acaadea2",
        source="KDD Cup 2000, Blue Martini Software; Zheng, Kohavi, Mason, KDD 2001",
        licence=_KDD,
    ),
    "BMS-WebView-2": DataSet(
        file="BMS-WebView-2.dat.xz",
        people=77_512,
        items=3_340,
        sha256="4cd78d2d07a0ae3ee4b471b19260c1a2d5252301657d7e9dd33335e4c10f39df",
        source="KDD Cup 2000, Blue Martini Software; Zheng, Kohavi, Mason, KDD 2001",
        licence=_KDD,
    ),
    "groceries": DataSet(
        file="groceries.csv.xz",
        people=9_835,
        items=169,
        sha256="07ee9afc65aec4d5af160947011fbbff97856e7827af4ad81f3ed3927e324f43",
        source="one month of a grocery outlet, Hahsler, Hornik, Reutterer 2006; the arules package",
        licence="arules, GPL-3",
    ),
    "OnlineRetail_words": DataSet(
        file="OnlineRetail_words.dat.xz",
        people=541_909,
        items=2_603,
        sha256="4ef374f4590895549cc9bf58fdc1983e4a717d7925cc236e3f345754afc6e71b",
        source="UCI Online Retail, Chen, Sain, Guo 2012: the words of each invoice line; rebuilt",
        licence=_UCI,
    ),
    "OnlineRetail_baskets": DataSet(
        file="OnlineRetail_baskets.dat.xz",
        people=19_960,
        items=3_922,
        sha256="dc881ea2cbc54b14f83f6c3194a37036e27d20426783cc00f0fbd367ddbac40f",
        source="UCI Online Retail, Chen, Sain, Guo 2012: one basket an invoice",
        licence=_UCI,
    ),
    "OnlineRetail_events": DataSet(
        file="OnlineRetail_events.csv.xz",
        people=4_338,
        items=3_665,
        sha256="6343905b77e347f0baad9064231371471706ae077acb9bc8cbc496eb4a1e2b0c",
        source="UCI Online Retail, Chen, Sain, Guo 2012: purchases of identified customers, in order",
        licence=_UCI,
        options={"person": "customer", "time": "time", "item": "item"},
    ),
    "msnbc_seq": DataSet(
        file="msnbc_seq.dat.xz",
        people=989_818,
        items=17,
        sha256="08c13a03a539838cff1936d2cd82b47ace7bc7ffef2a3e8d617cebde5ba5a239",
        source="UCI MSNBC.com Anonymous Web Data, D. Heckerman; Cadez et al., KDD 2000: pages in order",
        licence=_UCI,
        options={"ordered": True},
    ),
    "kosarak_100k": DataSet(
        file="kosarak_100k.dat.xz",
        people=100_000,
        items=23_496,
        sha256="5445abf254cad4da401beb78f5a3c961c0d889576a01a449108ba1861d82f8de",
        source=f"clicks of a Hungarian news portal, F. Bodon; {_FIMI}",
        licence="none stated",
        part_of="kosarak: the first 100,000 of 990,002 people",
    ),
    "BMS-POS_275k": DataSet(
        file="BMS-POS_275k.dat.xz",
        people=275_000,
        items=1_515,
        sha256="8600e686e9bafdb19992c1af7ca793b86ca08c670cf40be5d7afe99f460e77a5",
        source="KDD Cup 2000, Blue Martini Software; Zheng, Kohavi, Mason, KDD 2001",
        licence=_KDD,
        part_of="BMS-POS: 275,000 of 515,597 people",
    ),
    "accidents_reduced": DataSet(
        file="accidents_reduced.dat.xz",
        people=17_009,
        items=111,
        sha256="70daeeb718b16318f2c30bd417238aa3bdee73da3e9e5a46cc49acc215d928eb",
        source="Belgian traffic accidents, Geurts et al. 2003; reduced by Van Haaren, Davis, AAAI 2012",
        licence="none stated; cite both",
        part_of="accidents: a sample of its people, 111 of 468 items",
    ),
    "ml-latest-small": DataSet(
        file="ml-latest-small_ratings.csv.xz",
        people=610,
        items=9_724,
        sha256="80da8b3393dae325bbba5a31f291a6ba55d8d4f4396de3c456f2c1635b1b70e8",
        source="MovieLens ml-latest-small (2018): the movies each person rated, in order",
        licence="research use, no commercial use without permission; cite Harper and Konstan 2015",
        options={"person": "userId", "item": "movieId", "time": "timestamp"},
    ),
}
"""The data sets in files, by name."""


@dataclass(frozen=True, kw_only=True)
class Inferred:
    """A probable reconstruction of a data set of a paper, from a set at hand: its numbers agree.

    Parameters
    ----------
    of
        The data set at hand.
    people
        The number of people to draw, if no number is requested.
    without
        The number of most frequent items that are left out of every basket.
    why
        The evidence.
    """

    of: str
    people: int
    without: int = 0
    why: str


_RETAIL = "the Retail set of Dong et al. 2024 has its 2,603 items and 300,000 people; which ones is not said"

INFERRED: Mapping[str, Inferred] = {
    "inferred-Retail": Inferred(of="OnlineRetail_words", people=300_000, why=_RETAIL),
    "inferred-Retail-star": Inferred(
        of="OnlineRetail_words", people=300_000, without=8, why=f"{_RETAIL}; Retail* is without its top 8 items"
    ),
}
"""Data sets of papers, inferred from their printed numbers of people and items."""


def _list_generators() -> dict[str, Callable[..., Baskets]]:
    """Return the functions that generate data sets, by name."""
    from discreet.baskets import applets, cascades, groceries, quest, viewings

    from .generators import QUEST_PRESETS, bulk_buyers, census, latent_groups

    return {
        **{f"quest-{name}": partial(quest, **settings) for name, settings in QUEST_PRESETS.items()},
        "made-up-groceries": groceries,
        "latent-groups": partial(latent_groups, people=100_000, items=500, groups=20),
        "bulk-buyers": bulk_buyers,
        "made-up-census": census,
        "made-up-applets": applets,
        "made-up-cascades": cascades,
        "made-up-viewings": viewings,
        **aside_generators(),
    }


def names() -> tuple[str, ...]:
    """Return the names of :func:`load`: sets in files, sets drawn from files, and generated sets.

    Examples
    --------
    >>> "kosarak_100k" in names(), "quest-T40I10D100K" in names()
    (True, True)
    """
    return (*DATA_SETS, *INFERRED, *DRAWN, *_list_generators())


def origin(name: str) -> str:
    """Return the origin of a data set as text: the hash of its file, or of the code that generates it.

    Examples
    --------
    >>> origin("mushroom") == DATA_SETS["mushroom"].sha256
    True
    """
    from ..run.fingerprint import fingerprint

    if name in INFERRED:
        inferred = INFERRED[name]
        return f"{origin(inferred.of)} {inferred.people} {inferred.without}"
    if name in DRAWN:
        return f"{origin(DRAWN[name].of)} {DRAWN[name].people} {find_first_seed(name)}"
    generator = _list_generators().get(name)
    if generator is None:
        return _find_set(name).sha256
    settings = generator.keywords if isinstance(generator, partial) else {}
    function = generator.func if isinstance(generator, partial) else generator
    seed_text = f" {find_first_seed(name)}" if name in aside_generators() else ""
    return f"{fingerprint(function.__module__)} {sorted(settings.items())}{seed_text}"


def path(name: str) -> Path:
    """Return the path of the file of a data set; an `InputError` says how to get a missing file."""
    file_path = _find_file(name)
    if file_path is None:
        raise InputError(missing_files([name]))
    return file_path


def is_here(name: str) -> bool:
    """Return whether the file of a data set is on this machine; a generated or drawn set has no file of its own."""
    try:
        return _find_file(name) is not None
    except MisuseError:
        return True
    except InputError:
        return False


def missing_files(names: Sequence[str]) -> str:
    """Return a message about missing files of data sets: the searched directories, and the sources."""
    directory_text = "\n".join(f"  {place}" for place in _list_directories())
    ending = "put {} into a directory, compressed with xz or not, and set DISCREET_DATA to its path."
    if len(names) == 1:
        data_set = _find_set(names[0])
        part_text = f" It is part of {data_set.part_of}." if data_set.part_of else ""
        return (
            f"The file {data_set.file} of the data set {names[0]!r} is not here. Looked in:\n{directory_text}\n"
            f"It comes from: {data_set.source} (terms: {data_set.licence}).{part_text}\n"
            f"Get it there, {ending.format('it')}"
        )
    sets = [(name, _find_set(name)) for name in names]
    source_text = "\n".join(
        f"  {name}: {data_set.file}, from {data_set.source} (terms: {data_set.licence})" for name, data_set in sets
    )
    return (
        f"The files of {len(names)} data sets are not here. Looked in:\n{directory_text}\n"
        f"They come from:\n{source_text}\nGet them there, {ending.format('them')}"
    )


def _find_file(name: str) -> Path | None:
    """Return the path of the file of a data set; None if it is missing."""
    data_set = _find_set(name)
    for directory in _list_directories():
        for file in (data_set.file, data_set.file.removesuffix(".xz")):
            if (directory / file).is_file():
                return directory / file
    return None


def load(name: str, *, people: int | None = None, seed: int = 0) -> Baskets:
    """Return a data set, from its file or generated.

    Parameters
    ----------
    name
        A name of :func:`names`.
    people
        The number of people. A data set in a file is resampled to this number, with replacement; a generated set
        is generated with it. By default the number of its file or of its paper.
    seed
        The seed of resampling or generating.

    Examples
    --------
    >>> load("made-up-groceries", people=100)
    Baskets(100 people, 188 items, 6.39 per basket)
    """
    generators = _list_generators()
    if name in (*DRAWN, *aside_generators()):
        seed += find_first_seed(name)
    if name in generators:
        return generators[name](seed=seed) if people is None else generators[name](people=people, seed=seed)
    if name in INFERRED:
        inferred = INFERRED[name]
        resampled = load(inferred.of, people=inferred.people if people is None else people, seed=seed)
        return _drop_frequent(resampled, inferred.without)
    from discreet.baskets import read, resample

    if name in DRAWN:
        people_count = DRAWN[name].people if people is None else people
        source_baskets = load(DRAWN[name].of)
        return draw_half(source_baskets, seed) if people_count is None else resample(source_baskets, people_count, seed)
    file_path = path(name)
    baskets = read(file_path, **_find_set(name).options)
    return baskets if people is None else resample(baskets, people, seed)


def verify(name: str) -> None:
    """Raise an `InputError` unless the file of a data set has the right text."""
    import hashlib

    from discreet.baskets import COMPRESSIONS, open_stream

    file_path = path(name)
    with open_stream(file_path, COMPRESSIONS.get(file_path.suffix)) as (_, contents):
        digest = hashlib.file_digest(contents, "sha256").hexdigest()
    expected = _find_set(name).sha256
    if digest != expected:
        raise InputError(
            f"{file_path} is not the data set {name!r}: its text has the SHA-256 {digest}, not {expected}."
            " Get the file again."
        )


def _find_set(name: str) -> DataSet:
    """Return the description of a data set in a file; raise for an unknown name, and for a set without a file."""
    if name in DATA_SETS:
        return DATA_SETS[name]
    if name in INFERRED or name in DRAWN:
        raise MisuseError(f"The data set {name!r} has no file: it is drawn from another. Use load({name!r}).")
    if name in _list_generators():
        raise MisuseError(f"The data set {name!r} has no file: it is made. Use load({name!r}).")
    raise MisuseError(f"There is no data set {name!r}. There are: {', '.join(names())}.")


def _drop_frequent(baskets: Baskets, count: int) -> Baskets:
    """Return the baskets without the `count` most frequent items, which leave the vocabulary too."""
    if not count:
        return baskets
    import numpy as np

    from discreet.baskets import Vocabulary, starts

    kept_codes = np.sort(np.argsort(-baskets.item_counts, kind="stable")[count:])
    codes = np.full(baskets.items, -1, np.int32)
    codes[kept_codes] = np.arange(len(kept_codes))
    new_codes = codes[baskets.codes]
    people = np.repeat(np.arange(len(baskets)), baskets.sizes)[new_codes >= 0]
    offsets = starts(np.bincount(people, minlength=len(baskets)))
    return Baskets(offsets, new_codes[new_codes >= 0], Vocabulary(baskets.vocabulary.take(kept_codes)))


def _list_directories() -> list[Path]:
    """Return the directories in which files are searched, in order."""
    variable = os.environ.get("DISCREET_DATA")
    named_directories = [Path(variable).expanduser()] if variable else []
    if named_directories and not named_directories[0].is_dir():
        raise InputError(f"DISCREET_DATA is {variable}, which is not a directory; set it to one, or unset it.")
    checkout = Path(__file__).resolve().parents[4]
    default_directories = [checkout.parent / "shared" / "data", Path.cwd().resolve().parent / "shared" / "data"]
    return list(dict.fromkeys([*named_directories, *default_directories]))
