# SPDX-License-Identifier: BSD-3-Clause
"""Chooses the steps of .ci/run: the kinds of `make check` and the sanitizers' folders whose turn it is, then those that a change
can reach. The turn follows the number of commits, so that each kind comes with every third commit; where that is unknown, as in a
shallow clone, with every third hour. .ci/run begins a step only if its minutes still fit.

    reach.py ROOT [BASE]    writes lines for a shell: STEPS ("check:far=15 sanitize:ops/math=12", with minutes), RILL_CHANGED
                            and UNREACHED
    reach.py ROOT all       the same with every step

The change is what differs from BASE; without BASE, from the newest commit that is 12 hours older than the last one. Where that is
unknown, as in a shallow clone, all files have changed."""
import re
import shlex
import subprocess
import sys
from pathlib import Path

HOURS = 12
TURNS = 3
# by turn: folders of tests under the sanitizers, each with its minutes
SANITIZED = [
    {"core": 3, "io": 4, "faults": 3, "graph": 6, "runtime": 9, "session": 6, "link": 2, "passes": 6, "rill": 9, "saved": 4, "stock": 2, "distributed": 4},
    {"device": 10, "expr": 6, "eager": 3, "train": 8, "data": 6, "estimator": 4, "summary": 2, "tensorflow": 4, "programs": 5, "ops/array": 9,
     "ops/linalg": 7, "ops/nn": 6, "ops/catalogue.cpp": 2},
    {"resources": 5, "ops/math": 14, "ops/control": 8, "ops/accumulator": 3, "ops/barrier": 3, "ops/collective": 3, "ops/queue": 5, "ops/exchange": 2, "ops/image": 2,
     "ops/input": 3, "ops/io": 2, "ops/quantized": 3, "ops/stack": 2, "ops/random": 4, "ops/state": 5, "ops/string": 3, "ops/summary": 2, "ops/sync": 4,
     "ops/table": 3},
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


ENGINE = [f"include/rill/{folder}" for folder in ("runtime", "session", "eager", "resources", "link")]
HARNESS = ["tests/harness.cpp", "tests/main.cpp", "tests/ops/harness.hpp"]
PACKAGES = below("CMakeLists.txt", "CMakePresets.json", "conanfile.py", "docs/packages", "tests/consumers", "include/rill/core",
                 "include/rill/config.hpp", "include/rill/src.hpp", "include/rill/rill.hpp", "include/rill/graph/op/op_registry.hpp")
# kind (its tests have the label check_<kind>) -> its turn, its minutes on a slow machine, whether a change reaches it
KINDS = {
    "headers": (0, 20, below("include", "tests/house")),
    "compile_errors": (1, 20, lambda c: below("tests/compile_fail", "tests/house", "include/rill/core", "include/rill/expr",
                                              "include/rill/train", *ENGINE)(c) or named_by_a_case(c)),
    "consumers": (2, 18, lambda c: PACKAGES(c) or added_or_removed(c)),
    "levels": (1, 12, of_kernels),
    "far": (2, 14, lambda c: of_kernels(c) or below("include/rill/passes", "tests/device/far", *ENGINE)(c)),
    "thrust": (1, 8, below("include/rill/device", "include/rill/thrust.hpp", "tests/device/far", "tests/device/thrust")),
    "python": (1, 6, below("include/rill/io", "include/rill/summary", "include/rill/ops/summary", "include/rill/train/saver.hpp",
                           "include/rill/train/saver.ipp", "examples/tensorboard.cpp", "examples/exchange_weights.cpp", "tests/house")),
    "rare": (1, 8, lambda c: of_kernels(c) or below("tests/rare")(c)),
    "random": (0, 3, below("include/rill/passes", "include/rill/ops/control", "tests/random_control_flow.cpp",
                                   "tests/random_control_flow.hpp", *ENGINE)),
    "nvcc": (2, 14, lambda c: below("tests/nvcc", "include/rill/config.hpp", "include/rill/device/cuda", "include/rill/gpu.hpp")(c) or any(
        "RILL_FN" in c.text(f) for f in c.files if f.startswith("include/"))),
    "adding_an_op": (2, 6, below("docs/adding_an_op.md", "include/rill/graph", "include/rill/expr", "include/rill/resources",
                                 "tests/house", *HARNESS)),
    "benchmarks": (0, 8, below("bench", "include/rill/device", "CMakeLists.txt", *ENGINE)),
    "instructions": (0, 8, below("bench/instructions", "bench/models.hpp", "include/rill/core", "include/rill/graph", "include/rill/device",
                                 "include/rill/expr", "include/rill/passes", "include/rill/ops/control", *ENGINE)),
}


def folder_of(parts):
    """Returns the entry of SANITIZED for a path below tests/ or include/rill/; families of ops have one each."""
    if len(parts) == 1:
        return "rill"
    if parts[0] == "ops":
        return "/".join(parts[:2]) if len(parts) > 2 else "ops/catalogue.cpp"
    return parts[0]


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


MINUTES = {f"check:{k}": minutes for k, (_, minutes, _) in KINDS.items()}
MINUTES |= {f"sanitize:{f}": minutes for turn in SANITIZED for f, minutes in turn.items()}


def choose(change, turn):
    """Returns the steps for a change, first those that have their turn. Each turn begins its list at another place."""
    def turned(steps):
        first = turn // TURNS % len(steps) if steps else 0
        return steps[first:] + steps[:first]

    mine = turned([f"check:{k}" for k, (whose, _, _) in KINDS.items() if whose == turn % TURNS])
    mine += turned([f"sanitize:{f}" for f in SANITIZED[turn % TURNS]])
    reached = {*(f"check:{k}" for k, (_, _, reaches) in KINDS.items() if reaches(change)),
               *(f"sanitize:{f}" for f in change.folders())}
    return mine + turned([s for s in MINUTES if s in reached and s not in mine])


def shell(change, turn, everything):
    chosen = list(MINUTES) if everything else choose(change, turn)
    headers_whole = everything or KINDS["headers"][0] == turn % TURNS or below("tests/house")(change)
    changed = sorted(f.removeprefix("include/") for f in change.files if f.startswith("include/"))
    return {
        "STEPS": " ".join(f"{s}={MINUTES[s]}" for s in chosen),
        "RILL_CHANGED": "" if headers_whole else " ".join(changed),
        "UNREACHED": " ".join(s for s in MINUTES if s not in chosen),
    }


def git(root, *arguments):
    """Returns what git says; nothing where it fails."""
    return subprocess.run(["git", "-C", root, *arguments], stdout=subprocess.PIPE, text=True, check=False).stdout.strip()


def changed_files(root, base):
    """Returns {file: state} since a commit; every file where the commit is unknown."""
    if base and git(root, "rev-parse", "--verify", "--quiet", f"{base}^{{commit}}"):
        lines = git(root, "diff", "--name-status", "--no-renames", base, "HEAD").splitlines()
        return {line.split("\t")[1]: line[0] for line in lines}
    return {file: "A" for file in git(root, "ls-files").splitlines()}


def turn_of(root):
    """Returns the number of commits, which is the turn; the hour of the last commit where commits are cut off."""
    count = git(root, "rev-list", "--count", "HEAD")
    if not count or git(root, "rev-parse", "--is-shallow-repository") == "true":
        return int(git(root, "log", "-1", "--format=%ct") or 0) // 3600
    return int(count)


def main():
    root, base = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    everything, time = base == "all", int(git(root, "log", "-1", "--format=%ct") or 0)
    if not base or everything:
        base = git(root, "rev-list", "-1", f"--before={time - HOURS * 3600}", "HEAD")
    for name, value in shell(changes(root, changed_files(root, base)), turn_of(root), everything).items():
        print(f"{name}={shlex.quote(value)}")


if __name__ == "__main__":
    main()
