# SPDX-License-Identifier: BSD-3-Clause
"""reach.py leaves nothing out for good: three turns run every kind of check and every folder of tests, and a change reaches what
it should."""
import re
import sys
from pathlib import Path

from reach import KINDS, MINUTES, SANITIZED, TURNS, changes, choose, folder_of

NOT_SANITIZED = ("house", "compile_fail", "consumers", "rare")
# changed file -> kinds that it reaches, kinds that it does not
REACHED = {
    "include/rill/core/error.hpp": ("headers compile_errors consumers instructions", "adding_an_op"),
    "include/rill/device/cpu/cpu.hpp": ("headers levels far rare benchmarks instructions", "consumers nvcc"),
    "include/rill/ops/math/tanh.hpp": ("headers nvcc", "consumers benchmarks instructions"),
    "tests/nvcc/read_ptx.py": ("nvcc", "headers far levels consumers"),
    "include/rill/session/feed.hpp": ("headers compile_errors far random benchmarks instructions", "consumers levels"),
    "include/rill/ops/string/string_length.hpp": ("headers", "compile_errors consumers adding_an_op benchmarks instructions"),
    "bench/instructions/baseline.json": ("instructions benchmarks", "headers far"),
    "include/rill/ops/linalg/matmul.hpp": ("headers levels far rare compile_errors", "consumers benchmarks"),
    "docs/adding_an_op.md": ("adding_an_op", "headers far levels consumers"),
    "tests/harness.cpp": ("adding_an_op", "headers far levels consumers"),
    "tests/house/check_headers.py": ("headers compile_errors", "far"),
    "README.md": ("", " ".join(KINDS)),
}


def reached(root, files):
    """Returns the kinds of check that run for these changed files in every turn."""
    change = changes(root, {f: "M" for f in files})
    steps = set.intersection(*(set(choose(change, turn)) for turn in range(TURNS)))
    return {s.removeprefix("check:") for s in steps if s.startswith("check:")}


def check(root):
    tests, problems = root / "tests", []
    folders = {f for turn in SANITIZED for f in turn}
    found = {folder_of(file.relative_to(tests).parts) for file in tests.rglob("*.cpp")
             if file.relative_to(tests).parts[0] not in NOT_SANITIZED}
    problems += [f"tests/{f} is never run under the sanitizers: add it to SANITIZED in reach.py" for f in sorted(found - folders)]
    problems += [f"tests/{f} of SANITIZED in reach.py holds no tests" for f in sorted(folders - found)]
    listed = " ".join(file.read_text() for folder in (tests, root / "bench") for file in folder.rglob("CMakeLists.txt"))
    labels = set(re.findall(r"\bcheck_(\w+)\b(?=[ )\";])", listed))
    problems += [f"the label check_{k} is no kind of reach.py" for k in sorted(labels - KINDS.keys())]
    problems += [f"no test has the label check_{k}" for k in sorted(KINDS.keys() - labels)]
    nothing = changes(root, {})
    problems += [f"{s} has no turn" for s in sorted({*MINUTES} - {s for turn in range(TURNS) for s in choose(nothing, turn)})]
    for file, (runs, does_not) in REACHED.items():
        kinds = reached(root, [file])
        problems += [f"{file} should reach {k}" for k in runs.split() if k not in kinds]
        problems += [f"{file} should not reach {k}" for k in does_not.split() if k in kinds]
    return sorted(set(problems))


if __name__ == "__main__":
    found = check(Path(sys.argv[1]))
    print("\n".join(found) or "every check has its turn")
    sys.exit(bool(found))
