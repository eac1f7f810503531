# SPDX-License-Identifier: BSD-3-Clause
"""Chooses the checks of .ci/run: the kinds of `make check` and the sanitizers' folders that a change can reach, and those whose
turn it is. Every commit count has its turn of three, so each kind runs whole at least every third time.

    reach.py ROOT [BASE]    writes lines for a shell: CHECK_CMAKE, CHECK_SKIPPED, FOLDERS, RILL_CHANGED and LEFT_OUT

The change is what differs from BASE; without BASE, from the newest commit that is 12 hours older than the last one."""
import re
import subprocess
import sys
from pathlib import Path

HOURS = 12
TURNS = 3
# by turn: folders of tests, each with the minutes that both sanitizers take for it
SANITIZED = [
    {"core": 1, "graph": 1, "runtime": 3, "passes": 1, "rill": 2, "saved": 1},
    {"device": 3, "expr": 1, "train": 2, "data": 0.5, "tensorflow": 1, "ops/array": 2, "ops/linalg": 1, "ops/nn": 1},
    {"ops/math": 4, "ops/control": 2, "ops/queue": 1, "ops/random": 1, "ops/state": 1, "ops/string": 0.5, "ops/sync": 1, "ops/table": 0.5},
]
MOST_MINUTES = 11  # under the sanitizers; make sanitize has all


def below(*folders):
    """Returns a rule: true if a changed file lies in one of these folders, or is one of these files."""
    return lambda change: any(f == p or f.startswith(p + "/") for f in change.files for p in folders)


def added_or_removed(change):
    return any(state in "AD" and f.startswith("include/") for f, state in change.files.items())


def of_kernels(change):
    return below("include/rill/device", "include/rill/expr", "tests/device")(change) or any(
        "bind(" in change.text(f) or "value(" in change.text(f) for f in change.files if f.startswith("include/rill/ops/"))


def named_by_a_case(change):
    cases = " ".join(p.read_text() for p in (change.root / "tests/compile_fail").glob("*.cpp"))
    return any(re.search(rf"\b{Path(f).stem}\b", cases) for f in change.files if f.startswith("include/rill/ops/"))


PACKAGES = below("CMakeLists.txt", "CMakePresets.json", "conanfile.py", "docs/packages", "tests/consumers", "include/rill/core",
                 "include/rill/config.hpp", "include/rill/src.hpp", "include/rill/rill.hpp", "include/rill/graph/op_registry.hpp")
# kind (its tests have the label check_<kind>) -> its turn, whether a change reaches it, what cmake leaves out without it
KINDS = {
    "headers": (0, below("include", "tests/house"), ""),
    "compile_errors": (1, lambda c: below("tests/compile_fail", "tests/house", "include/rill/core", "include/rill/expr",
                                          "include/rill/runtime", "include/rill/train")(c) or named_by_a_case(c), ""),
    "consumers": (2, lambda c: PACKAGES(c) or added_or_removed(c), ""),
    "levels": (1, of_kernels, "-DRILL_KERNEL_LEVELS="),
    "far": (2, lambda c: of_kernels(c) or below("include/rill/passes", "include/rill/runtime", "tests/device/far")(c),
            "-DRILL_TEST_FAR=OFF"),
    "rare": (1, lambda c: of_kernels(c) or below("tests/rare")(c), "-DRILL_KERNEL_RARE_TYPES=OFF"),
    "random": (0, below("include/rill/passes", "include/rill/runtime", "include/rill/ops/control", "tests/random_control_flow.cpp"), ""),
    "adding_an_op": (2, below("docs/adding_an_op.md", "include/rill/graph", "include/rill/expr", "tests/ops/harness.hpp", "tests/house"), ""),
    "benchmarks": (0, below("bench", "include/rill/device", "include/rill/runtime", "CMakeLists.txt"), "-DRILL_BUILD_BENCH=OFF"),
}


class changes:
    """What differs between two commits: the changed files, each with its state in git (A, D, M)."""

    def __init__(self, root, files):
        self.root, self.files = root, files

    def text(self, file):
        path = self.root / file
        return path.read_text() if path.exists() else ""

    def folders(self):
        """Returns the folders below tests/ that hold the tests of what changed."""
        found = set()
        for file in self.files:
            if match := re.match(r"(?:include/rill|tests)/(.+)/[^/]+$", file):
                parts = match[1].split("/")
                found.add("/".join(parts[:2] if parts[0] == "ops" else parts[:1]))
        return found


def choose(change, count):
    """Returns (kinds, folders): what runs for a change, in this turn. Reached folders are added while there is time."""
    turn = count % TURNS
    kinds = [k for k, (whose, reached, _) in KINDS.items() if whose == turn or reached(change)]
    folders, minutes = list(SANITIZED[turn]), sum(SANITIZED[turn].values())
    for folder, more in [row for other in SANITIZED for row in other.items()]:
        if folder in change.folders() and folder not in folders and minutes + more <= MOST_MINUTES:
            folders.append(folder)
            minutes += more
    return kinds, sorted(folders)


def shell(change, count):
    kinds, folders = choose(change, count)
    left = [k for k in KINDS if k not in kinds]
    every = sorted(f for turn in SANITIZED for f in turn)
    headers_whole = KINDS["headers"][0] == count % TURNS or below("tests/house")(change)
    changed = sorted(f.removeprefix("include/") for f in change.files if f.startswith("include/"))
    return {
        "CHECK_CMAKE": " ".join(filter(None, (KINDS[k][2] for k in left))),
        "CHECK_SKIPPED": "|".join(left),
        "FOLDERS": ";".join(folders),
        "RILL_CHANGED": "" if headers_whole else " ".join(changed),
        "LEFT_OUT": f"{len(left)} kinds of check ({' '.join(left)}), sanitizers of {len(every) - len(folders)} folders"
                    f" ({' '.join(f for f in every if f not in folders)})",
    }


def git(root, *arguments):
    return subprocess.run(["git", "-C", root, *arguments], check=True, capture_output=True, text=True).stdout.strip()


def main():
    root = Path(sys.argv[1])
    base = sys.argv[2] if len(sys.argv) > 2 and sys.argv[2] else git(
        root, "rev-list", "-1", f"--before={int(git(root, 'log', '-1', '--format=%ct')) - HOURS * 3600}", "HEAD")
    lines = git(root, "diff", "--name-status", "--no-renames", base, "HEAD").splitlines() if base else [
        f"A\t{f}" for f in git(root, "ls-files").splitlines()]
    change = changes(root, {line.split("\t")[1]: line[0] for line in lines})
    for name, value in shell(change, int(git(root, "rev-list", "--count", "HEAD"))).items():
        print(f"{name}='{value}'")


if __name__ == "__main__":
    main()
