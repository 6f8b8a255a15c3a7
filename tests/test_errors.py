"""Messages name options as Python and as the command line write them, and what was given is never taken for one."""

from __future__ import annotations

import ast
import inspect
import pickle
import re
from fractions import Fraction
from functools import cache
from pathlib import Path
from string import Formatter

import pytest
import typer

import discreet
import discreet_lab
import running
from discreet.errors import (
    OPTIONS,
    BudgetError,
    EmptyDataError,
    InputError,
    Message,
    MisuseError,
    build_message,
    name_options,
    render_option,
)

SOURCE = Path(discreet.__file__).parent
LAB = Path(discreet_lab.__file__).parent


@pytest.mark.parametrize(
    ("text", "python", "typed_text"),
    [
        ("use {min_count=1}.", "use min_count=1.", "use --min-count 1."),
        ("Raise {min_count} ({lengths=})", "Raise min_count (lengths=)", "Raise --min-count (--lengths)"),
        ('pass {labels="names"}.', 'pass labels="names".', "pass --labels names."),
        ("such as {delta=1e-6}.", "such as delta=1e-6.", "such as --delta 1e-6."),
        ("with {items='public'}", "with items='public'", "with --items public"),
        ('{query="SELECT a FROM …"}', 'query="SELECT a FROM …"', '--query "SELECT a FROM …"'),
        ("say so with {same_data=True}.", "say so with same_data=True.", "say so with --same-data."),
        ("list them with {segments=}.", "list them with segments=.", "list them with --segments."),
        ("give {format=} as", "give format= as", "give --input-format as"),
        ('{pair=("before", "after")}.', 'pair=("before", "after").', "--pair before after."),
        ("[{{'tea', 'milk'}}]", "[{'tea', 'milk'}]", "[{'tea', 'milk'}]"),
        ("the top of the format", "the top of the format", "the top of the format"),
    ],
)  # fmt: skip
def test_options_are_written_as_each_language_has_them(text, python, typed_text):
    message = build_message(text)
    assert (str(message), message.typed) == (python, typed_text)


@pytest.mark.parametrize(
    "hostile", ["top=5.csv", "min_count=3", "epsilon is", "{top}", "{0}", "%s", "--top 5", 'labels="names"']
)
def test_what_was_given_is_inserted_and_never_looked_into(hostile):
    message = build_message("{path}: {top} is {given!r}", path=hostile, given=hostile)
    assert str(message) == f"{hostile}: top is {hostile!r}"
    assert message.typed == f"{hostile}: --top is {hostile!r}"
    assert InputError(hostile).message == Message(hostile, hostile)


def test_values_are_formatted_and_quoted():
    assert build_message("{many:,} of {what!r:.4}", many=1234, what="long").typed == "1,234 of 'lon"
    assert build_message("{limit=more:_}", more=10**6) == Message("limit=1_000_000", "--limit 1_000_000")
    assert build_message("{query=select}", select="from 'a b'").typed == "--query \"from 'a b'\""
    assert build_message("{query=select}", select='a "b" $c').typed == "--query 'a \"b\" $c'"


def test_messages_are_put_together():
    inner = build_message(
        "use {top}",
    )
    assert build_message("{why}. {least}?", why=MisuseError(inner)) == Message("use top. least?", "use --top. --least?")
    assert build_message("{both} were", both=name_options("top", "min_count")) == Message(
        "top and min_count were", "--top and --min-count were"
    )
    assert name_options("kept", equals="=") == Message("kept=", "kept=")
    assert render_option("redundant", False) == Message("redundant=False", "--no-redundant")
    assert render_option("max_items", 5) == Message("max_items=5", "--max-items 5")
    assert render_option("kept", 5) == Message("kept=5", "kept=5")


def test_a_mistake_in_a_message_is_found_at_once():
    with pytest.raises(KeyError, match="neither a value of this message nor an option"):
        build_message("{tpo} is 5")
    with pytest.raises(TypeError, match="not called top, which is an option"):
        build_message("{top} is 5", top=5)


def test_errors_are_pickled_with_both_languages():
    for kind in (InputError, EmptyDataError, MisuseError, discreet.LimitError, discreet.DiscreetError):
        error = pickle.loads(pickle.dumps(kind(build_message("{top} is {given}", given=5))))
        assert (type(error), str(error), error.message.typed) == (kind, "top is 5", "--top is 5")
    budget_error = BudgetError(build_message("{epsilon} is {given}", given=2), Fraction(2), Fraction(1), Fraction(0))
    unpickled = pickle.loads(pickle.dumps(budget_error))
    assert (unpickled.message, unpickled.difference, str(unpickled)) == (budget_error.message, 2, "epsilon is 2")
    assert str(MisuseError("as it is")) == MisuseError("as it is").message.typed == "as it is"


def parameters() -> set[str]:
    open_ = [discreet.read, discreet.mine, discreet.release, discreet.count, discreet.rank, discreet.simulate]
    functions = [
        discreet.rules,
        discreet.release_relations,
        discreet.release_by,
        discreet.count_by,
        discreet.plan,
        discreet.compare,
        discreet.audit,
        discreet.Ledger.create,
        discreet.Patterns.rules,
        discreet.Patterns.where,
    ]
    return {name for function in (*open_, *functions) for name in inspect.signature(function).parameters}


def options() -> set[str]:
    from discreet.cli import app

    def inside(command) -> set[str]:
        option_names = {option for parameter in command.params for option in parameter.opts}
        return option_names.union(*map(inside, getattr(command, "commands", {}).values()))

    return inside(typer.main.get_command(app))


def test_the_table_of_options_holds_what_there_is():
    option_names = options()
    assert OPTIONS.keys() <= parameters()
    assert set(OPTIONS.values()) <= option_names
    # Whatever is both a parameter and an option of the same name is in the table.
    both_languages = {name for name in parameters() if "--" + name.replace("_", "-") in option_names}
    # A name of a ledger is one of many names, the scores of `rank` are a file's, and the question of `release_by` is
    # all that `release` takes, while that of `study add-up` is a file.
    assert both_languages - {"name", "question", "scores"} <= OPTIONS.keys(), (
        "name these in errors.py, so that messages can"
    )


@cache
def calls() -> list[tuple[str, ast.Call]]:
    message_calls = []
    modules = {str(path.relative_to(SOURCE)): path for path in sorted(SOURCE.rglob("*.py"))}
    modules |= {f"lab/{path.relative_to(LAB)}": path for path in sorted(LAB.rglob("*.py"))}
    for name, path in modules.items():
        nodes = list(ast.walk(ast.parse(path.read_text())))
        ours = {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
        for node in nodes:
            if not isinstance(node, ast.Call):
                continue
            if isinstance(node.func, ast.Attribute) and ast.unparse(node.func).endswith("Error.format"):
                node.func = ast.Name("build_message")
                message_calls.append((f"{name}:{node.lineno}", node))
            elif isinstance(node.func, ast.Name) and node.func.id in ours:
                message_calls.append((f"{name}:{node.lineno}", node))
    return message_calls


class Anything(str):
    def __format__(self, form: str) -> str:
        return "something"


def test_every_message_has_its_fields():
    message_count = 0
    for place, call in calls():
        is_field = call.func.id == "told_field"
        if (not is_field and call.func.id != "build_message") or "_fields.py" in place:
            continue
        message_count += 1
        if is_field and isinstance(call.args[0], ast.Call):  # a message, which is checked itself
            continue
        assert isinstance(call.args[0], ast.Constant), f"{place}: a template is a literal text with fields"
        values = set() if is_field else {keyword.arg for keyword in call.keywords}
        assert not values & OPTIONS.keys(), f"{place}: a value is named like an option"
        fields = {field for _, field, _, _ in Formatter().parse(call.args[0].value) if field is not None}
        names = {field.partition("=")[0] for field in fields}
        default_names = {field.partition("=")[2] for field in fields} & values
        assert names <= values | OPTIONS.keys(), f"{place}: {names - values - OPTIONS.keys()} is nothing"
        assert values <= names | default_names, f"{place}: {values - names - default_names} is not told"
        build_message(call.args[0].value, **dict.fromkeys(values, Anything()))
    assert message_count > 100


def test_no_literal_message_has_fields():
    for place, call in calls():
        if call.func.id.endswith("Error") and call.args and isinstance(call.args[0], ast.Constant):
            text = call.args[0].value
            assert not re.search(r"\{\w+[=}]", text), f"{place}: {text!r} has fields: write {call.func.id}.format()"


def plain(node: ast.AST) -> str:
    """Return the text of a message that has no template, with a gap for each value."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(plain(part) or "…" for part in node.values)
    return ""


def test_no_plain_message_names_an_option_of_python():
    every, long_names = "|".join(OPTIONS), "|".join(name for name in OPTIONS if "_" in name)
    option = re.compile(rf"\b(?:{long_names})\b|(?<![-\w])(?:{every})=")
    opening = re.compile(rf"^(?:{every}) (?:is|are|must|has)\b")
    for place, call in calls():
        if call.func.id.endswith("Error") and call.args and not place.startswith(("lab/", "kernels/")):
            text = plain(call.args[0])
            # Oracles and protocols speak of their settings, which are typed otherwise.
            match = option.search(text) or (None if place.startswith("local/") else opening.search(text))
            assert not match, (
                f"{place}: write {match[0]!r} as a field of build_message(), so that the command line can type it"
            )


def run(*words: str, cwd: Path) -> str:
    completed = running.run(*words, cwd=cwd)
    assert completed.returncode == 1
    return completed.stderr


def test_hostile_names_in_both_languages(tmp_path):
    assert run("mine", "top=5.csv", "--top", "3", cwd=tmp_path) == "discreet: There is no file top=5.csv.\n"
    with pytest.raises(InputError, match=r"^There is no file top=5\.csv\.$"):
        discreet.mine("top=5.csv", top=3)
    odd = tmp_path / "min_count=3.dat"
    odd.write_text("3 4\n5 epsilon\n")
    message_start = "line 2: an item is not a whole number, and the first line with items has only numbers; "
    assert run("mine", odd.name, "--top", "3", cwd=tmp_path) == (
        f"discreet: min_count=3.dat, {message_start}--labels names reads items as names.\n"
    )
    with pytest.raises(InputError) as caught:
        discreet.read(odd)
    assert str(caught.value) == f'{odd}, {message_start}labels="names" reads items as names.'
    (tmp_path / "b.dat").write_text("top= milk\nlabels tea\n")
    assert run("mine", "b.dat", "--top", "3", "--contains", "epsilon is", cwd=tmp_path).startswith(
        "discreet: 'epsilon is' is not an item of this data"
    )
