# SPDX-License-Identifier: BSD-3-Clause
"""reach.py leaves nothing out for good: three turns run every kind of check and every folder of tests, and a change reaches what
it should."""
import re
import sys
from pathlib import Path

from reach import KINDS, SANITIZED, STEPS, TURNS, changes, choose, folder_of

# changed file -> kinds that it reaches, kinds that it does not
REACHED = {
    "include/rill/core/error.hpp": ("headers compile_errors consumers", "adding_an_op"),
    "include/rill/device/cpu/cpu.hpp": ("headers levels far rare benchmarks", "consumers"),
    "include/rill/ops/string/string_length.hpp": ("headers", "compile_errors consumers adding_an_op benchmarks"),
    "include/rill/ops/linalg/matmul.hpp": ("headers levels far rare compile_errors", "consumers benchmarks"),
    "docs/adding_an_op.md": ("adding_an_op", "headers far levels consumers"),
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
    for file in tests.rglob("*.cpp"):
        parts = file.relative_to(tests).parts
        folder = folder_of(parts)
        if parts[0] not in ("house", "compile_fail", "consumers", "rare") and folder not in folders and folder != "ops":
            problems.append(f"tests/{folder} is never run under the sanitizers: add it to SANITIZED in reach.py")
    labels = {label for file in tests.rglob("CMakeLists.txt") for label in re.findall(r"\bcheck_(\w+)\b(?=[ )])", file.read_text())}
    problems += [f"the label check_{k} is no kind of reach.py" for k in sorted(labels - KINDS.keys())]
    nothing = changes(root, {})
    problems += [f"{s} has no turn" for s in sorted({*STEPS} - {s for turn in range(TURNS) for s in choose(nothing, turn)})]
    for file, (runs, does_not) in REACHED.items():
        kinds = reached(root, [file])
        problems += [f"{file} should reach {k}" for k in runs.split() if k not in kinds]
        problems += [f"{file} should not reach {k}" for k in does_not.split() if k in kinds]
    return sorted(set(problems))


if __name__ == "__main__":
    found = check(Path(sys.argv[1]))
    print("\n".join(found) or "every check has its turn")
    sys.exit(bool(found))
