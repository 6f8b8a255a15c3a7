"""Files that commands are told to write to: ours are replaced, others only with `--force`."""

# internals: this module replaces the server and the signer by ones that stop at once.
from __future__ import annotations

import json

import pytest

from discreet.cli._replacing import allow_replacing, check_replaceable
from discreet.errors import MisuseError
from running import run

SALES = "who,what\na,tea\na,milk\nb,tea\nb,milk\nc,tea\n"
DATA_ARGUMENTS = ("sales.csv", "--person", "who", "--item", "what")
PRIVATE = (*DATA_ARGUMENTS, "--top", "2", "--epsilon", "1", "--items", "items.txt")
RANKED = ("pages.csv", "--label", "page", "--score", "visits", "--top", "1", "--epsilon", "1", "--sensitivity", "1",
          "--labels", "public")  # fmt: skip
COMMANDS = {
    "mine.json": ("mine", *DATA_ARGUMENTS, "--min-count", "1"),
    "mine.csv": ("mine", *DATA_ARGUMENTS, "--min-count", "1"),
    "mine.parquet": ("mine", *DATA_ARGUMENTS, "--min-count", "1"),
    "mine.txt": ("mine", *DATA_ARGUMENTS, "--min-count", "1"),
    "mine.tsv": ("mine", *DATA_ARGUMENTS, "--min-count", "1"),
    "mine.arrow": ("mine", *DATA_ARGUMENTS, "--min-count", "1"),
    "rules.csv": ("rules", *DATA_ARGUMENTS, "--min-count", "1"),
    "relations.csv": ("relations", *DATA_ARGUMENTS, "--top", "2"),
    "relations.txt": ("relations", *DATA_ARGUMENTS, "--top", "2"),
    "release.csv": ("release", *PRIVATE),
    "release.parquet": ("release", *PRIVATE),
    "release.txt": ("release", *PRIVATE),
    "simulate.txt": ("simulate", *DATA_ARGUMENTS, "--top", "2", "--epsilon", "1"),
    "compare.csv": ("compare", *PRIVATE, "--mechanism", "exponential,laplace"),
    "compare.parquet": ("compare", *PRIVATE, "--mechanism", "exponential,laplace"),
    "compare.txt": ("compare", *PRIVATE, "--mechanism", "exponential,laplace"),
    "diff.csv": ("diff", "before.json", "before.json"),
    "diff.json": ("diff", "before.json", "before.json"),
    "plan.json": ("plan", "--items", "10", "--people", "1000", "--epsilon", "1", "--top", "3", "--name", "exponential"),
    "plan.svg": ("plan", "--items", "10", "--people", "1000", "--epsilon", "1", "--top", "3", "--name", "exponential"),
    "plan.txt": ("plan", "--items", "10", "--people", "1000", "--epsilon", "1", "--top", "3", "--name", "svim"),
    "plan.csv": ("plan", "--items", "10", "--people", "1000", "--epsilon", "1", "--top", "3", "--name", "svim"),
    "audit.csv": ("audit", "grr", "--runs", "9"),
    "audit.json": ("audit", "grr", "--runs", "9"),
    "rank.csv": ("rank", *RANKED),
    "rank.parquet": ("rank", *RANKED, "--no-scores"),
    "ledger.csv": ("ledger", "export", "budget.db"),
    "ledger.json": ("ledger", "export", "budget.db"),
    "page.html": ("report", "before.json"),
    "study.json": ("study", "export", "breakfast", "--at", "studies"),
    "tokens.txt": ("study", "token", "--at", "studies", "--study", "breakfast", "--many", "3"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with data, a list, a saved result, a ledger and a study."""
    place = tmp_path_factory.mktemp("replacing")
    (place / "sales.csv").write_text(SALES)
    (place / "pages.csv").write_text("page,visits\nhome,9\nhelp,3\n")
    (place / "items.txt").write_text("tea\nmilk\n")
    for command in (
        ("mine", *DATA_ARGUMENTS, "--min-count", "1", "-o", "before.json"),
        ("ledger", "create", "budget.db", "--epsilon", "3"),
        ("study", "new", "study.toml"),
        ("study", "open", "study.toml", "--at", "studies"),
    ):
        completed = run(*command, cwd=place)
        assert completed.returncode == 0, completed.stderr
    return place


@pytest.mark.parametrize("name", COMMANDS)
def test_a_file_of_somebody_s_is_replaced_only_if_told_to(folder, name):
    """A table of sales was overwritten by `results -o sales.csv` without a word."""
    command, place = (*COMMANDS[name], "-o", name), folder / name
    for content in (None, ""):  # a new file, and one that was made empty
        place.unlink(missing_ok=True) if content is None else place.write_text(content)
        completed = run(*command, cwd=folder)
        assert completed.returncode == 0, completed.stderr
    repeated = run(*command, cwd=folder)  # over the file of the run before
    if name.endswith(".txt"):  # a text has no mark
        assert (repeated.returncode, f"add --force to replace {name}." in repeated.stderr) == (1, True)
    else:
        assert repeated.returncode == 0, repeated.stderr
    for theirs in (SALES, "{}", "Notes of the meeting, with 3 patterns of ours.\n", '{"items": [1]}'):
        place.write_text(theirs)
        completed = run(*command, cwd=folder)
        assert completed.returncode == 1
        assert f"{name} holds something that discreet did not write: nothing was changed." in completed.stderr
        assert f"add --force to replace {name}." in completed.stderr
        assert place.read_text() == theirs
    forced = ("--force", *command) if name == "mine.txt" else (*command, "--force")  # before the command or after it
    completed = run(*forced, cwd=folder)
    assert completed.returncode == 0, completed.stderr
    assert place.read_bytes() != theirs.encode()


def test_nothing_is_paid_for_what_cannot_be_written(folder):
    (folder / "theirs.html").write_text("<h1>Notes</h1>")
    paid_release = ("release", *PRIVATE, "--ledger", "budget.db", "-o", "paid.json")
    for options in (("--report", "theirs.html"), ("-o", "sales.csv")):
        assert run(*paid_release, *options, cwd=folder).returncode == 1
    assert json.loads(run("ledger", "export", "budget.db", cwd=folder).stdout)["spends"] == []
    assert not (folder / "paid.json").exists()


PROTECTED = (
    "studies/signing.key",
    "studies/serving.lock",
    "studies/collector.sqlite",
    "studies/collector.sqlite-wal",
    "studies/collector.sqlite-shm",
    "budget.db",
    "budget.db-journal",
    "link.dat",
)


@pytest.mark.parametrize("name", PROTECTED)
def test_a_file_of_a_service_or_a_ledger_is_never_replaced(folder, name):
    """A key passed for a list of tokens, and a lock and a log for files that were made empty."""
    (folder / "studies" / "serving.lock").touch()
    if name == "link.dat" and not (folder / name).is_symlink():
        (folder / name).symlink_to("studies/signing.key")
    place = folder / name
    before = place.read_bytes() if place.exists() else None
    mine = ("mine", *DATA_ARGUMENTS, "--min-count", "1")
    commands = [
        (*mine, "--format", "json", "-o", name),
        (*mine, "--format", "table", "-o", name),
        ("study", "token", "--at", "studies", "--study", "breakfast", "-o", name),
        ("study", "export", "breakfast", "--at", "studies", "-o", name),
        ("ledger", "anchor", "other.db", name, "--anew"),
    ]
    if name != "budget.db":
        commands.append(("ledger", "export", "budget.db", "--format", "json", "-o", name))
    run("ledger", "create", "other.db", "--epsilon", "3", cwd=folder)
    for command in commands:
        for forced in ((), ("--force",)):
            completed = run(*command, *forced, cwd=folder)
            assert completed.returncode == 1, (command, completed.stderr)
            assert "never replaced" in completed.stderr or "not a head" in completed.stderr, (command, completed.stderr)
            assert (place.read_bytes() if place.exists() else None) == before


def test_the_names_of_protected_files_are_those_of_a_service():
    from discreet.collector import _documents as documents, _serving as serving, storage
    from discreet.protected import SERVICE_FILES

    assert set(SERVICE_FILES) == {documents.KEY_FILE, serving.LOCK_FILE, storage.STORE_FILE}


@pytest.fixture
def unforced():
    """No `--force`, whatever the command of another test was given in this process."""
    allow_replacing(False)


@pytest.mark.usefixtures("unforced")
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("secrets.txt", f"{'0a' * 32}\n"),  # a copy of a key, or the head of a ledger
        ("tokens.txt", f"{'0a' * 16}\n{'0b' * 16}\n"),  # tokens are shown once
        ("package.json", '{"name": "shop", "dependencies": {"discreet": "1"}}'),
        ("notes.txt", "3 patterns of behaviour\n"),
        ("stock.csv", "items,count,support,supplier\ntea,3,1,us\n"),
        ("logo.svg", "<svg xmlns='x' font-family=\"system-ui, -apple-system\"></svg>"),
        (
            "article.html",
            '<p>&lt;meta name="generator" content="discreet 1"><meta name="generator" content="discreet 1">',
        ),
    ],
)
def test_what_resembles_a_file_of_ours_is_kept(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    with pytest.raises(MisuseError, match="add --force"):
        check_replaceable(tmp_path / name)


@pytest.mark.usefixtures("unforced")
def test_a_table_of_others_with_our_name_in_it_is_kept(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyarrow import feather

    table = pa.table({"discreet": ["indiscreet"]})
    pq.write_table(table, tmp_path / "a.parquet")
    feather.write_feather(table, str(tmp_path / "a.arrow"), compression="uncompressed")
    for name in ("a.parquet", "a.arrow"):
        with pytest.raises(MisuseError, match="add --force"):
            check_replaceable(tmp_path / name)


def test_the_file_beside_a_table_is_asked_for_too(folder):
    (folder / "beside.csv.about.json").write_text("{}")
    completed = run("relations", *DATA_ARGUMENTS, "--top", "2", "-o", "beside.csv", cwd=folder)
    assert (completed.returncode, "beside.csv.about.json holds something" in completed.stderr) == (1, True)
    assert not (folder / "beside.csv").exists()


def test_a_demo_keeps_no_table_in_the_place_of_another(folder):
    completed = run("demo", "--people", "200", "--keep", ".", cwd=folder)
    assert (completed.returncode, "sales.csv holds something that discreet did not write" in completed.stderr) == (
        1,
        True,
    )
    assert (folder / "sales.csv").read_text() == SALES
    for _ in range(2):  # its own files, of the same people
        completed = run("demo", "--people", "200", "--keep", "shop", cwd=folder)
        assert completed.returncode == 0, completed.stderr
