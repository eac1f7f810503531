# SPDX-License-Identifier: BSD-3-Clause
"""reach.py leaves nothing out for good: TURNS commits in a row begin every step, also where the tests before them take TEST_MINUTES; and a
change reaches what it should. The turn is the number of commits, or the hour in a shallow clone."""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from reach import KINDS, MINUTES, ROTA, SANITIZED, TEST_MINUTES, TURNS, begun, changes, choose, folder_of, single, turn_of

NOT_SANITIZED = ("house", "compile_fail", "consumers", "nvcc", "rare", "sanitizers")
# changed file -> kinds that it reaches, kinds that it does not
REACHED = {
    "include/rill/core/error.hpp": ("headers compile_errors consumers far instructions", "adding_an_op"),
    "include/rill/graph/node.hpp": ("headers compile_errors far adding_an_op instructions", "consumers levels nvcc benchmarks"),
    "include/rill/distributed/channel.hpp": ("headers consumers", "compile_errors far levels nvcc"),
    "include/rill/device/thrust/kernel_starter.hpp": ("headers levels far thrust nvcc", "consumers compile_errors"),
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
    "include/rill/data/file_sources.ipp": ("headers python", "consumers far"),
    "include/rill/ops/input/parse_example.hpp": ("headers python", "consumers benchmarks"),
    "examples/exchange_input.cpp": ("python", "headers far"),
    "tests/data/input_files.py": ("python", "headers far"),
    "README.md": ("", " ".join(KINDS)),
}


# changed file -> the folders under the sanitizers that it reaches, the nearest first
FOLDERS = {
    "include/rill/core/error.hpp": "core graph runtime train",
    "include/rill/graph/node.ipp": "graph passes session ops/math",
    "include/rill/ops/math/tanh.hpp": "ops/math train rill",
    "tests/session/feed.cpp": "session",
    "README.md": "",
}


def reached(root, files):
    """Returns the kinds of check that run for these changed files in every turn."""
    change = changes(root, {f: "M" for f in files})
    steps = set.intersection(*(set(choose(change, turn)) for turn in range(TURNS)))
    return {s.removeprefix("check:").partition("/")[0] for s in steps if s.startswith("check:")}


def check_folders(root):
    problems = []
    for file, expected in FOLDERS.items():
        steps = changes(root, {file: "M"}).folders()
        distances = [steps.get(folder, -1) for folder in expected.split()]
        good = distances == sorted(distances) and -1 not in distances and distances[:1] in ([], [0]) and bool(steps) == bool(expected)
        problems += [] if good else [f"{file} should reach {expected}, not {steps}"]
    return problems


def never_begun(change, turns, base):
    """Returns the steps of these turns that no run of TURNS commits begins, if the tests before them take so many minutes."""
    found = {step for turn in range(TURNS) for step in begun(choose(change, turn, turns), base)}
    return sorted({step for steps in turns for step in steps} - found)


def check_guarantee(root):
    """Returns the steps that never begin, whatever has changed, and whether this check can fail."""
    problems = []
    for name, change in {"nothing": changes(root, {}), "all": changes(root, {"include/rill/core/error.hpp": "M", "tests/house/reach.py": "M"})}.items():
        problems += [f"{step} never begins where {name} has changed" for step in never_begun(change, ROTA, TEST_MINUTES)]
    nothing = changes(root, {})
    endless = {"check:endless": 13}
    problems += ["a step that can never begin is not seen"] * (never_begun(nothing, [*ROTA, endless], TEST_MINUTES) != ["check:endless"])
    problems += ["a base of 44 minutes leaves room for all"] * (not never_begun(nothing, ROTA, TEST_MINUTES + 8))
    problems += [f"{step} has no turn" for step in sorted(MINUTES.keys() - single(step for steps in ROTA for step in steps))]
    problems += ["a step runs twice in a turn"] * any(len(single(steps)) != sum(len(single([s])) for s in steps) for steps in (
        choose(changes(root, {"include/rill/core/error.hpp": "M"}), turn) for turn in range(TURNS)))
    page = (root / "CONTRIBUTING.md").read_text()
    problems += [] if f"in {TURNS} commits" in page else [f"CONTRIBUTING.md does not say that {TURNS} commits run all"]
    divided = (root / "tests" / "CMakeLists.txt").read_text()
    problems += [] if "RILL_TEST_PART" in divided else ["tests/CMakeLists.txt does not divide rill_tests_far by RILL_TEST_PART"]
    return problems


def check_turns():
    """Returns what is wrong with the turns of a small repository, of its shallow clone, and of a folder without commits."""
    problems, hour = [], 480000
    with tempfile.TemporaryDirectory() as folder:
        whole, cut, none = (Path(folder) / name for name in ("whole", "cut", "none"))
        date = f"{hour * 3600 + 5} +0000"
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": folder, "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_DATE": date,
                       "GIT_COMMITTER_DATE": date}

        def run(*arguments):
            subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, env=environment)
        run("init", str(whole))
        none.mkdir()
        for count in (1, 2, 3):
            run("-C", str(whole), "commit", "--allow-empty", "-m", "one more")
            problems += [f"commit {count} has the turn {turn_of(whole)}"] * (turn_of(whole) != count)
        run("clone", "--depth", "1", f"file://{whole}", str(cut))
        problems += [f"a shallow clone has the turn {turn_of(cut)}, not its hour"] * (turn_of(cut) != hour)
        problems += ["a folder without commits has a turn"] * (turn_of(none) != 0)
    return problems


def check(root):
    tests, problems = root / "tests", []
    folders = set(SANITIZED)
    found = {folder_of(file.relative_to(tests).parts) for file in tests.rglob("*.cpp")
             if file.relative_to(tests).parts[0] not in NOT_SANITIZED}
    problems += [f"tests/{f} is never run under the sanitizers: add it to SANITIZED in reach.py" for f in sorted(found - folders)]
    problems += [f"tests/{f} of SANITIZED in reach.py holds no tests" for f in sorted(folders - found)]
    listed = " ".join(file.read_text() for folder in (tests, root / "bench") for file in folder.rglob("CMakeLists.txt"))
    labels = set(re.findall(r"\bcheck_(\w+)\b(?=[ )\";])", listed))
    problems += [f"the label check_{k} is no kind of reach.py" for k in sorted(labels - KINDS.keys())]
    problems += [f"no test has the label check_{k}" for k in sorted(KINDS.keys() - labels)]
    for file, (runs, does_not) in REACHED.items():
        kinds = reached(root, [file])
        problems += [f"{file} should reach {k}" for k in runs.split() if k not in kinds]
        problems += [f"{file} should not reach {k}" for k in does_not.split() if k in kinds]
    return sorted(set(problems))


if __name__ == "__main__":
    root = Path(sys.argv[1])
    found = [*check(root), *check_folders(root), *check_guarantee(root), *check_turns()]
    print("\n".join(found) or "every check has its turn")
    sys.exit(bool(found))
