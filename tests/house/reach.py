# SPDX-License-Identifier: BSD-3-Clause
"""Chooses the checks of .ci/run: the kinds of `make check` and the sanitizers' folders whose turn it is, then those that a change
can reach. Every commit count has its turn of three, so each kind runs whole at least every third time. .ci/run begins them in this
order until its time is up.

    reach.py ROOT [BASE]    writes lines for a shell: STEPS ("check:far sanitize:ops/math"), RILL_CHANGED and UNREACHED
    reach.py ROOT all       the same with every step

The change is what differs from BASE; without BASE, from the newest commit that is 12 hours older than the last one."""
import re
import subprocess
import sys
from pathlib import Path

HOURS = 12
TURNS = 3
# by turn: folders of tests under the sanitizers
SANITIZED = [
    ["core", "graph", "runtime", "session", "link", "passes", "rill", "saved"],
    ["device", "expr", "eager", "train", "data", "tensorflow", "ops/array", "ops/linalg", "ops/nn"],
    ["resources", "ops/math", "ops/control", "ops/accumulator", "ops/barrier", "ops/queue", "ops/stack", "ops/random", "ops/state", "ops/string", "ops/sync", "ops/table"],
]


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
                 "include/rill/config.hpp", "include/rill/src.hpp", "include/rill/rill.hpp", "include/rill/graph/op/op_registry.hpp")
# kind (its tests have the label check_<kind>) -> its turn, whether a change reaches it
KINDS = {
    "headers": (0, below("include", "tests/house")),
    "compile_errors": (1, lambda c: below("tests/compile_fail", "tests/house", "include/rill/core", "include/rill/expr",
                                          "include/rill/runtime", "include/rill/train")(c) or named_by_a_case(c)),
    "consumers": (2, lambda c: PACKAGES(c) or added_or_removed(c)),
    "levels": (1, of_kernels),
    "far": (2, lambda c: of_kernels(c) or below("include/rill/passes", "include/rill/runtime", "tests/device/far")(c)),
    "rare": (1, lambda c: of_kernels(c) or below("tests/rare")(c)),
    "random": (0, below("include/rill/passes", "include/rill/runtime", "include/rill/ops/control", "tests/random_control_flow.cpp")),
    "adding_an_op": (2, below("docs/adding_an_op.md", "include/rill/graph", "include/rill/resources", "include/rill/expr", "tests/ops/harness.hpp", "tests/house")),
    "benchmarks": (0, below("bench", "include/rill/device", "include/rill/runtime", "CMakeLists.txt")),
}


def folder_of(parts):
    """Returns the entry of SANITIZED for a path below tests/ or include/rill/; families of ops have one each."""
    if len(parts) == 1:
        return "rill"
    return "/".join(parts[:2] if parts[0] == "ops" and len(parts) > 2 else parts[:1])


class changes:
    """What differs between two commits: the changed files, each with its state in git (A, D, M)."""

    def __init__(self, root, files):
        self.root, self.files = root, files

    def text(self, file):
        path = self.root / file
        return path.read_text() if path.exists() else ""

    def folders(self):
        """Returns the folders below tests/ that hold the tests of what changed."""
        paths = [re.match(r"(?:include/rill|tests)/(.+)$", file) for file in self.files]
        return {folder_of(path[1].split("/")) for path in paths if path}


STEPS = [*(f"check:{k}" for k in KINDS), *(f"sanitize:{f}" for turn in SANITIZED for f in turn)]


def choose(change, count):
    """Returns the steps for a change, first those that have their turn."""
    turn, folders = count % TURNS, change.folders()
    mine = [*(f"check:{k}" for k, (whose, _) in KINDS.items() if whose == turn), *(f"sanitize:{f}" for f in SANITIZED[turn])]
    reached = {*(f"check:{k}" for k, (_, reaches) in KINDS.items() if reaches(change)), *(f"sanitize:{f}" for f in folders)}
    return mine + [s for s in STEPS if s in reached and s not in mine]


def shell(change, count, everything):
    chosen = STEPS if everything else choose(change, count)
    headers_whole = everything or KINDS["headers"][0] == count % TURNS or below("tests/house")(change)
    changed = sorted(f.removeprefix("include/") for f in change.files if f.startswith("include/"))
    return {
        "STEPS": " ".join(chosen),
        "RILL_CHANGED": "" if headers_whole else " ".join(changed),
        "UNREACHED": " ".join(s for s in STEPS if s not in chosen),
    }


def git(root, *arguments):
    return subprocess.run(["git", "-C", root, *arguments], check=True, capture_output=True, text=True).stdout.strip()


def main():
    root, base = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    everything = base == "all"
    if not base or everything:
        base = git(root, "rev-list", "-1", f"--before={int(git(root, 'log', '-1', '--format=%ct')) - HOURS * 3600}", "HEAD")
    lines = git(root, "diff", "--name-status", "--no-renames", base, "HEAD").splitlines() if base else [
        f"A\t{f}" for f in git(root, "ls-files").splitlines()]
    change = changes(root, {line.split("\t")[1]: line[0] for line in lines})
    for name, value in shell(change, int(git(root, "rev-list", "--count", "HEAD")), everything).items():
        print(f"{name}='{value}'")


if __name__ == "__main__":
    main()
