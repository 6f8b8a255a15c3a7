"""The container file names what there is: no engine is needed to see that."""

from __future__ import annotations

import re
from pathlib import Path

from running import run

ROOT = Path(__file__).parents[1]


def test_what_the_container_file_names_is_there():
    text = (ROOT / "Dockerfile").read_text()
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    for line in re.findall(r"^COPY (?!--)(.+)$", text, re.M):
        for source in line.split()[:-1]:
            assert (ROOT / source).exists()
            assert f"!{source}" in ignored  # or it would not be seen
    extras = re.search(r"/source\[([a-z,]+)\]", text).group(1).split(",")
    project = (ROOT / "pyproject.toml").read_text()
    assert all(re.search(rf"^{extra} = \[", project, re.M) for extra in extras)
    shared = re.search(r"discreet warmup --shared (\S+)", text).group(1)
    assert f"DISCREET_KERNELS={shared}" in text
    assert "--shared" in run("warmup", "--help").stdout
    assert text.index("USER discreet") > text.index("warmup")  # root compiles, somebody else runs
