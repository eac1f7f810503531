# SPDX-License-Identifier: BSD-3-Clause
"""Chooses the steps of .ci/run: the tests of `make check` and the sanitizers' folders whose turn it is, then those that a change
can reach, the nearest by includes first. .ci/run begins a step only if its minutes fit into MOST_MINUTES.

Guaranteed, and proved by check_reach.py: every step begins at least once in TURNS commits in a row, if `make test`, the demo and
the fuzzer take at most TEST_MINUTES. For that, long kinds run in parts ("headers/2of3"), and no turn takes more than the minutes that are
left. The turn follows the number of commits; in a shallow clone, where that is unknown, the hours of its last commit. TURNS is prime: whoever
runs every second or tenth commit meets every turn, too. Nothing is remembered between runs.

    reach.py ROOT [BASE]    writes lines for a shell: STEPS ("check:far/1of3=8,0 sanitize:tsan:ops/math=5,7": minutes, and how many
                            more for the first step of its kind), MOST_MINUTES, CHANGED_HEADERS and UNREACHED
    reach.py ROOT all       the same with every step

The change is what differs from BASE; without BASE, from the newest commit that is 12 hours older than the last one. Where that is
unknown, as in a shallow clone, all files have changed."""
import re
import shlex
import subprocess
import sys
from functools import lru_cache
from itertools import count
from math import ceil
from pathlib import Path

from header_graph import HEADER_ONLY, includes

HOURS = 12
MOST_MINUTES = 48  # a run that is killed, at 50, says nothing
TEST_MINUTES = 36  # `make test`, the demo and the fuzzer, cold on 2 cores
# The minutes of steps are estimates for a slow machine of 2 cores, with room: of compile errors, adding_an_op and the tests of levels from runs of
# 27 November 2026 on a faster one, as those of the sanitizers' folders, of the others from the seconds of their units. `make test-costs CHECKS=1` measures the kinds of check.
# sanitizer -> the minutes that its first step takes more, for rill::kernels and what all tests share; the fuzzer has built the kernels of one
SANITIZERS = {"asan-ubsan": 2, "tsan": 7}
# folders of tests under the sanitizers, each with its minutes under one of them
SANITIZED = {
    "core": 1, "io": 1, "faults": 1, "graph": 2, "runtime": 3, "session": 2, "link": 1, "passes": 1, "rill": 5, "saved": 2, "stock": 1, "distributed": 5,
    "device": 5, "expr": 2, "eager": 1, "train": 5, "data": 1, "estimator": 1, "summary": 1, "tensorflow": 2, "programs": 5, "resources": 1,
    "ops/array": 3, "ops/linalg": 1, "ops/nn": 2, "ops/catalogue.cpp": 1, "ops/math": 5, "ops/control": 2, "ops/accumulator": 1, "ops/barrier": 1,
    "ops/collective": 1, "ops/queue": 1, "ops/exchange": 1, "ops/image": 1, "ops/input": 1, "ops/io": 1, "ops/quantized": 1, "ops/stack": 1,
    "ops/random": 1, "ops/state": 1, "ops/string": 1, "ops/summary": 1, "ops/sync": 1, "ops/table": 1,
}


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


@lru_cache
def header_graph(root):
    return includes(root / "include")


def of_gpu_programs(change):
    """Returns true if programs for a GPU bring a changed header that others do not bring."""
    graph = header_graph(change.root)
    only = (graph.of("rill/gpu.hpp", HEADER_ONLY) | {"rill/gpu.hpp"}) - graph.of("rill/rill.hpp", HEADER_ONLY)
    return any(f"rill/{name}" in only for name in change.headers())


ENGINE = [f"include/rill/{folder}" for folder in ("runtime", "session", "eager", "resources", "link")]
HARNESS = ["tests/harness.cpp", "tests/main.cpp", "tests/ops/harness.hpp"]
PACKAGES = below("CMakeLists.txt", "CMakePresets.json", "conanfile.py", "docs/packages", "tests/consumers", "include/rill/core",
                 "include/rill/distributed", "include/rill/distributed.hpp", "include/rill/config.hpp", "include/rill/src.hpp", "include/rill/rill.hpp",
                 "include/rill/graph/op/op_registry.hpp")
# kind (its tests have the label check_<kind>) -> its parts, the minutes of each on a slow machine, whether a change reaches it. The parts of
# most are every n-th test; check_headers.py, check_clang.py and tests/CMakeLists.txt (far) divide by themselves.
KINDS = {
    "headers": (3, 7, below("include", "tests/house")),
    "clang": (2, 6, below("include", "tests", "examples")),
    "compile_errors": (2, 6, lambda c: below("tests/compile_fail", "tests/house", "include/rill/core", "include/rill/graph", "include/rill/expr",
                                             "include/rill/train", *ENGINE)(c) or named_by_a_case(c)),
    "consumers": (4, 9, lambda c: PACKAGES(c) or added_or_removed(c)),
    "levels": (1, 11, of_kernels),
    "far": (3, 9, lambda c: of_kernels(c) or below("include/rill/core", "include/rill/graph", "include/rill/passes", "tests/device/far",
                                                   *ENGINE)(c)),
    "thrust": (1, 11, below("include/rill/device", "include/rill/thrust.hpp", "tests/device/far", "tests/device/thrust")),
    "gpu": (1, 9, below("include/rill/device", "include/rill/thrust.hpp", "tests/nvcc/gpu", "examples/accelerator.hpp",
                        "examples/cpu_reads_gpu_trains.cpp", "examples/gpu_memory.cpp", "examples/gpu_pinning.cpp",
                        "examples/soft_placement.cpp",
                        "examples/virtual_towers.cpp")),
    "python": (1, 6, below("include/rill/io", "include/rill/data", "include/rill/summary", "include/rill/ops/input", "include/rill/ops/summary",
                           "include/rill/train/saver.hpp", "include/rill/train/saver.ipp", "examples/tensorboard.cpp",
                           "examples/exchange_weights.cpp", "examples/exchange_input.cpp", "tests/data", "tests/house")),
    "rare": (1, 8, lambda c: of_kernels(c) or below("tests/rare")(c)),
    "random": (1, 3, below("include/rill/passes", "include/rill/ops/control", "tests/random_control_flow.cpp",
                           "tests/random_control_flow.hpp", *ENGINE)),
    "nvcc": (4, 7, lambda c: below("tests/nvcc", "include/rill/config.hpp")(c) or of_gpu_programs(c) or any(
        "RILL_FN" in c.text(f) for f in c.files if f.startswith("include/"))),
    "adding_an_op": (1, 6, below("docs/adding_an_op.md", "include/rill/graph", "include/rill/expr", "include/rill/resources",
                                 "tests/house", *HARNESS)),
    "benchmarks": (1, 9, below("bench", "include/rill/device", "CMakeLists.txt", *ENGINE)),
    "instructions": (1, 8, below("bench/instructions", "bench/models.hpp", "include/rill/core", "include/rill/graph", "include/rill/device",
                                 "include/rill/expr", "include/rill/passes", "include/rill/ops/control", *ENGINE)),
}


def parts_of(kind):
    """Returns {step: minutes} of a kind of `make check`."""
    parts, minutes, _ = KINDS[kind]
    return {f"check:{kind}{f'/{i}of{parts}' if parts > 1 else ''}": minutes for i in range(1, parts + 1)}


CHECKS = {step: minutes for kind in KINDS for step, minutes in parts_of(kind).items()}
MINUTES = CHECKS | {f"sanitize:{tool}:{folder}": minutes for tool in SANITIZERS for folder, minutes in SANITIZED.items()}


def more_at_first(step):
    """Returns the minutes that a step takes more if none of its sanitizer came before."""
    return SANITIZERS.get(step.split(":")[1], 0)


def packed(steps, room):
    """Returns lists of steps, each list of at most so many minutes where its steps are no longer."""
    bins = []
    for step, minutes in sorted(steps.items(), key=lambda each: -each[1]):
        mine = next((b for b in bins if sum(b.values()) + minutes <= room), None)
        bins.append({step: minutes}) if mine is None else mine.update({step: minutes})
    return bins


def rota():
    """Returns {step: minutes} of each turn. A turn of a sanitizer has one step for all of its folders."""
    turns = packed(CHECKS, MOST_MINUTES - TEST_MINUTES)
    for tool, first in SANITIZERS.items():
        turns += [{f"sanitize:{tool}:{';'.join(folders)}": sum(folders.values())} for folders in packed(SANITIZED, MOST_MINUTES - TEST_MINUTES - first)]
    return turns


ROTA = rota()
TURNS = next(n for n in count(len(ROTA)) if all(n % d for d in range(2, n)))


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

    def headers(self):
        """Returns the changed headers as they are included, but for "rill/"."""
        return [f.removeprefix("include/rill/") for f in self.files if re.match(r"include/rill/.+\.[hi]pp$", f)]

    def folders(self):
        """Returns {folder below tests/: steps} of the tests that a change reaches: by how many includes a header of theirs is away."""
        paths = [re.match(r"(?:include/rill|tests)/(.+)$", file) for file in self.files]
        found = {folder_of(path[1].split("/")): 0 for path in paths if path}
        for header, steps in header_graph(self.root).that_bring([f"rill/{name}" for name in self.headers()]).items():
            folder = folder_of(header.split("/")[1:])
            found[folder] = min(steps, found.get(folder, steps))
        return {folder: steps for folder, steps in found.items() if folder in SANITIZED}


def changed_headers_alone(change):
    """Returns {step: minutes} for the headers that changed or bring what changed, by their share of all."""
    top = change.root / "include"
    every = [file.relative_to(top).as_posix() for file in top.glob("rill/**/*.hpp")]
    share = len(set(every) & header_graph(change.root).that_bring([f"rill/{name}" for name in change.headers()]).keys()) / max(1, len(every))
    return {"check:headers": 1 + ceil(share * sum(parts_of("headers").values()))}


@lru_cache
def reached(change):
    """Returns {step: (distance, minutes)} for what a change can reach. The kinds of check stand behind the folders that have changed
    themselves, but for headers alone, of which few may be reached."""
    steps = {step: (1, minutes) for kind, (_, _, reaches) in KINDS.items() if reaches(change) for step, minutes in parts_of(kind).items()}
    if "check:headers/1of3" in steps and not below("tests/house")(change):
        alone = changed_headers_alone(change)
        if alone["check:headers"] <= MOST_MINUTES - TEST_MINUTES:
            steps = {step: (0, minutes) for step, minutes in alone.items()} | {s: v for s, v in steps.items() if s not in parts_of("headers")}
    return steps | {f"sanitize:{tool}:{folder}": (distance, SANITIZED[folder]) for folder, distance in change.folders().items() for tool in SANITIZERS}


def single(steps):
    """Returns the steps with a step of several folders taken apart."""
    return {f"{step.rpartition(':')[0]}:{part}" for step in steps for part in step.rpartition(":")[2].split(";")}


def choose(change, turn, turns=None):
    """Returns {step: minutes} for a change, in order: what has its turn, then what is reached, the nearest first. Of equally near ones each
    turn begins with another."""
    turns = turns or ROTA
    mine = turns[turn % TURNS % len(turns)]
    others = [(step, *how) for step, how in reached(change).items() if step not in single(mine)]
    first = turn % len(others) if others else 0
    return mine | {step: minutes for step, _, minutes in sorted(others[first:] + others[:first], key=lambda each: each[1])}


def begun(steps, minutes_gone):
    """Returns the steps that .ci/run begins if `make test`, demo and fuzzing took so many minutes, and each step its own."""
    found = []
    for step, minutes in steps.items():
        if not any(step.rpartition(":")[0] == other.rpartition(":")[0] for other in found):
            minutes += more_at_first(step)
        if minutes_gone + minutes <= MOST_MINUTES:
            minutes_gone += minutes
            found.append(step)
    return found


def shell(change, turn, everything):
    chosen = dict(MINUTES) if everything else choose(change, turn)
    return {
        "STEPS": " ".join(f"{step}={minutes},{more_at_first(step)}" for step, minutes in chosen.items()),
        "MOST_MINUTES": str(MOST_MINUTES),
        "CHANGED_HEADERS": " ".join(sorted(f"rill/{name}" for name in change.headers())),
        "UNREACHED": " ".join(s for s in MINUTES if s not in single(chosen)),
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
