#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""rill beside TensorFlow, JAX, PyTorch and C++ written by hand: the same work, one core, one run.

    make bench-peers
    python3 bench/peers/run.py [--rounds 5] [--seconds 0.3] [--rows gelu_1e7 …] [--only rill jax …] [--without torch …]
    python3 bench/peers/run.py --threads    rill on one core and on all of them instead
    python3 bench/peers/run.py --flags      rill built with -march=native and without, header-only and with rill::kernels
                                            (elsewhere: with both)

Installs the frameworks into build/peers/venv and builds the C++ programs, checks that all programs compute the same
numbers, then times each row in interleaved rounds. Prints a table; one of all rows also goes into docs/benchmarks.md,
between its lines `<!-- peers -->` and `<!-- /peers -->`, or those of `threads` or `flags`.
"""
import argparse
import datetime
import fnmatch
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build" / "peers"
PYTHON = BUILD / "venv" / "bin" / "python"
PAGE = ROOT / "docs" / "benchmarks.md"

TITLES = {"rill": "rill", "tensorflow": "TensorFlow", "jax": "JAX", "torch": "PyTorch", "native": "hand C++"}
VARIANTS = {  # forms of rill beside one another: titles of the columns, the last of which is the first's over the second's time
    "threads": ({"rill": "one thread", "rill_threads": f"{len(os.sched_getaffinity(0))} threads"}, "times as fast"),
    "flags": ({"rill": "rill::kernels, -march=native", "rill_kernels": "rill::kernels",
               "rill_native": "header-only, -march=native", "rill_plain": "header-only"},
              "rill::kernels without flags: share of the speed"),
}
ALL_TITLES = TITLES | VARIANTS["threads"][0] | VARIANTS["flags"][0] | {"rill": "rill"}
PACKAGES = {"tensorflow": "tensorflow-cpu", "jax": "jax", "torch": "torch"}
BESIDE = {"tensorflow": {"pandas"}}  # what else the program of a peer imports
FORMS = {"tensorflow": "graphs in sessions", "jax": "jit", "torch": "eager"}
PEERS = list(PACKAGES)
ROWS = """empty_callable empty_run linear_regression
    mlp_4_10_10_3 mlp_784_100_10 mlp_784_512_512_10_sgd mlp_784_512_512_10_adam
    embedding_1e4 embedding_1e6
    gelu_1e3 gelu_1e5 gelu_1e7 gelu_grad_1e3 gelu_grad_1e5 gelu_grad_1e7
    gelu_into_1e7 gelu_grad_into_1e7 gelu_grad_sum_1e7
    sum_abcd_1e3 sum_abcd_1e5 sum_abcd_1e7 assign_1e7 assign_add_1e7 matmul_256 matmul_1024
    cond_scalar while_scalar_1e3 while_scalar_grad_1e3 scan_rnn_100x32 scan_rnn_grad_100x32 train_in_graph_1e3
    pendulum pendulum_grad pendulum_second queue_pair queue_batch queue_sessions_1e3
    lenet_64 conv_3x3_64 lstm_28x128 lstm_2x128_lengths
    input_csv input_csv_pandas input_tfrecord input_pipeline
    remote_empty_run remote_push_pull_1e2 remote_push_pull_1e5 remote_push_pull_1e7
    chain_build chain_gradients chain_first_run first_result""".split()
FLOPS = {"matmul_256": 2 * 256 ** 3, "matmul_1024": 2 * 1024 ** 3}
LONG = 5.0  # seconds: what takes as long is measured once
NOTES = {("jax", "chain_"): "5,000 nodes", ("tensorflow", "input_csv_pandas"): "pandas"}  # not the same work: shown, but in no ratio

# Relative; a list where a row's numbers differ in kind. How far a loss fell is the difference of close numbers.
TOLERANCE = 1e-4
TOLERANCES = {"linear_regression": [1e-4, 1e-2], "mlp_*": [1e-4, 1e-2], "embedding_*": [1e-4, 1e-2], "lenet_*": [1e-4, 1e-2], "lstm_*": [1e-4, 1e-2], "chain_*": [1e-3],
              "pendulum*": [1e-3]}

CPU = Path("/proc/cpuinfo").read_text()
ENVIRONMENT = {
    **os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
    "TF_NUM_INTRAOP_THREADS": "1", "TF_NUM_INTEROP_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "2",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false", "JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": "",
    "PYTHONDONTWRITEBYTECODE": "1"}
if "avx512f" in CPU:
    ENVIRONMENT["OPENBLAS_CORETYPE"] = "SkylakeX"  # what Debian's OpenBLAS doesn't choose on processors newer than itself


def stop(message: str) -> None:
    raise SystemExit(f"bench-peers: {message}")


def say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


# ---- making the programs ---------------------------------------------------------------------------------------------
def versions() -> dict[str, str]:
    """Of what the virtual environment has."""
    program = ("import importlib.metadata as m, json; "
               "print(json.dumps({d.name.replace('_', '-'): d.version for d in m.distributions()}))")
    return json.loads(subprocess.run([PYTHON, "-c", program], capture_output=True, text=True, check=True).stdout)


def install(peers: list[str]) -> list[str]:
    """Returns those that could not be installed."""
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", PYTHON.parents[1]], check=True)
    failed = []
    for peer in peers:
        wanted = {"numpy", PACKAGES[peer]} | BESIDE.get(peer, set())
        if not wanted <= versions().keys():
            say(f"installing {PACKAGES[peer]}")
            done = subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", *sorted(wanted)], stdout=sys.stderr)
            failed += [peer] * (done.returncode != 0)
    return failed


def has(*patterns: str) -> Path | None:
    """A system header."""
    return next((path for pattern in patterns for path in sorted(Path("/usr/include").glob(pattern))), None)


def kernels() -> list[str]:
    """What a program is compiled with that links rill::kernels, built as packages are: for any processor."""
    folder = BUILD / "kernels"
    configure = ["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DRILL_KERNELS=ON"]
    off = [f"-DRILL_BUILD_{what}=OFF" for what in ("TESTS", "EXAMPLES", "BENCH")]
    for command in (configure + off, ["cmake", "--build", folder]):
        if subprocess.run(command, stdout=sys.stderr).returncode:
            stop("rill::kernels can't be built")
    return ["-DRILL_COMPILED=1", f"-I{folder}/include", folder / "librill_distributed.a", folder / "librill_kernels.a", "-ldl"]


def build(name: str) -> None:
    source = "rill" if name.startswith("rill") else name
    command = ["g++", "-std=c++20", "-O2", f"-I{ROOT}/include", HERE / f"{source}.cpp", "-o", BUILD / name]
    if name in ("rill", "rill_kernels"):
        command += kernels()
    if name == "rill" and has("zmq.hpp"):
        command += ["-DPEERS_REMOTE", "-lzmq"]
    if name not in ("rill_kernels", "rill_plain"):
        command += ["-march=native"]
    if name == "native":
        command += ["-O3", "-ffast-math"] + ["-mprefer-vector-width=512"] * ("avx512f" in CPU)
        if cblas := has("*/openblas-pthread/cblas.h", "openblas/cblas.h", "*/cblas.h", "cblas.h"):
            command += [f"-I{cblas.parent}", "-DPEERS_BLAS", "-lopenblas"]
        if has("dnnl.hpp"):
            command += ["-DPEERS_DNNL", "-ldnnl"]
    say(f"building {name}.cpp")
    if subprocess.run(command).returncode:
        stop(f"{name}.cpp does not compile")


# ---- talking to them -------------------------------------------------------------------------------------------------
def command_of(name: str) -> list[str]:
    if name == "rill_threads":
        return [BUILD / "rill", "threads"]
    core = str(max(os.sched_getaffinity(0)))
    return ["taskset", "-c", core] + ([BUILD / name] if name == "native" or name.startswith("rill") else [PYTHON, HERE / f"{name}_.py"])


class Program:
    """A child process that answers commands."""

    def __init__(self, name: str):
        self.name, self.log = name, BUILD / f"{name}.log"
        self.process = subprocess.Popen(command_of(name), env=ENVIRONMENT, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.log.open("w"))
        self.rows = set(self.ask("rows")) | {"first_result"}

    def ask(self, command: str) -> list[str]:
        try:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
            reply = self.process.stdout.readline()
        except BrokenPipeError:
            reply = ""
        if not reply or reply.startswith("error "):
            stop(f"{ALL_TITLES[self.name]}, {command}: {reply.strip() or 'the program ended'} (more in {self.log})")
        return reply.split()

    def check(self, row: str) -> list[float]:
        return [8.0] if row == "first_result" else [float(v) for v in self.ask(f"check {row}")]

    def time(self, row: str, seconds: float) -> float:
        """Microseconds."""
        if row != "first_result":
            return float(self.ask(f"time {row} {seconds}")[0])
        begin = time.perf_counter()
        result = subprocess.run(command_of(self.name) + ["first"], env=ENVIRONMENT, capture_output=True, text=True)
        took = time.perf_counter() - begin
        if result.stdout.strip() != "8":
            stop(f"{TITLES[self.name]}, first: 3 + 5 gave '{result.stdout.strip()}'\n{result.stderr[-500:]}")
        return took * 1e6


def start(names: list[str]) -> list[Program]:
    return [Program(name) for name in names]


def end(programs: list[Program]) -> None:
    for program in programs:
        program.process.stdin.close()
    for program in programs:
        program.process.wait()


def agree(row: str, programs: list[Program]) -> None:
    """Every program's numbers are those of the first."""
    tolerances = next((t for pattern, t in TOLERANCES.items() if fnmatch.fnmatch(row, pattern)), [TOLERANCE])
    first, *others = [(p, p.check(row)) for p in programs if row in p.rows] or [(None, [])]
    for program, numbers in others:
        close = len(numbers) == len(first[1]) and all(
            abs(a - b) <= tolerances[min(i, len(tolerances) - 1)] * max(abs(a), abs(b))
            for i, (a, b) in enumerate(zip(numbers, first[1])))
        if not close:
            stop(f"{row}: the programs disagree\n  {ALL_TITLES[first[0].name]}: {first[1]}\n"
                 f"  {ALL_TITLES[program.name]}: {numbers}")


def times(row: str, programs: list[Program], rounds: int, seconds: float) -> dict[str, float]:
    """Median microseconds by program. Rounds are interleaved: what disturbs the machine for a while disturbs all."""
    taken: dict[str, list[float]] = {p.name: [] for p in programs if row in p.rows}
    for _ in range(rounds):
        for p in programs:
            if row in p.rows and max(taken[p.name], default=0) < LONG * 1e6:
                taken[p.name].append(p.time(row, seconds))
    return {name: statistics.median(each) for name, each in taken.items()}


# ---- the table -------------------------------------------------------------------------------------------------------
def note(name: str, row: str) -> str | None:
    return next((text for (program, start), text in NOTES.items() if program == name and row.startswith(start)), None)


def digits(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def cell(name: str, row: str, taken: dict[str, float]) -> str:
    if name not in taken:
        return "–"
    us = taken[name]
    if row in FLOPS:
        return f"{digits(FLOPS[row] / us * 1e-3)} GFLOP/s"
    value, unit = (us, "µs") if us < 1e3 else (us / 1e3, "ms") if us < 1e6 else (us / 1e6, "s")
    return f"{digits(value)} {unit}" + (f" ({note(name, row)})" if note(name, row) else "")


def ratio(a: float | None, b: float | None) -> str:
    return digits(a / b) if a and b else "–"


def table(results: dict[str, dict[str, float]], names: list[str]) -> str:
    head = ["row"] + [TITLES[n] for n in names] + ["best peer / rill", "rill / hand"]
    lines = [head, ["---"] + ["--:"] * (len(head) - 1)]
    for row, taken in results.items():
        best = min((taken[p] for p in PEERS if p in taken and not note(p, row)), default=None)
        lines.append([row] + [cell(n, row, taken) for n in names]
                     + [ratio(best, taken.get("rill")), ratio(taken.get("rill"), taken.get("native"))])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def variants_table(results: dict[str, dict[str, float]], what: str) -> str:
    titles, last = VARIANTS[what]
    head = ["row", *titles.values(), last]
    lines = [head, ["---"] + ["--:"] * (len(head) - 1)]
    first, second, *_ = titles
    for row, taken in results.items():
        lines.append([row] + [cell(n, row, taken) for n in titles] + [ratio(taken.get(first), taken.get(second))])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def machine(names: list[str], failed: list[str], rounds: int) -> str:
    """What the table was measured on, and what it lacks."""
    model = re.search(r"model name\s*: (.*)", CPU)
    compiler = subprocess.run(["g++", "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    have = versions() if PYTHON.exists() else {}
    used = [f"{TITLES[n]} {have[PACKAGES[n]]} ({FORMS[n]})" for n in names if n in PACKAGES]
    cores = "all" if "rill_threads" in names else "one"
    facts = [f"{model[1] if model else platform.machine()}, {cores} of {os.cpu_count()} cores", compiler, *used,
             *([f"Python {platform.python_version()}"] if used else []), f"medians of {rounds} interleaved rounds"]
    absent = [] if any(n.startswith("rill_") for n in names) else [
        f"{TITLES[n]} {'could not be installed' if n in failed else 'was left out'}." for n in TITLES if n not in names]
    return "; ".join(facts) + ". " * bool(absent) + " ".join(absent)


def publish(what: str, text: str) -> None:
    marks = re.compile(rf"(<!-- {what} -->\n).*?(<!-- /{what} -->)", re.DOTALL)
    if PAGE.exists() and marks.search(page := PAGE.read_text()):
        PAGE.write_text(marks.sub(lambda m: m[1] + text + "\n" + m[2], page))
        say(f"written to {PAGE.relative_to(ROOT)}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--seconds", type=float, default=0.3, help="of one measurement")
    options.add_argument("--rows", nargs="+", default=["*"], help="names or patterns")
    options.add_argument("--only", nargs="+", default=list(TITLES), choices=TITLES, help="programs")
    options.add_argument("--without", nargs="+", default=[], choices=TITLES, help="programs")
    options.add_argument("--threads", action="store_true", help="rill on one core and on all of them")
    options.add_argument("--flags", action="store_true", help="rill built for this processor and for any")
    options.add_argument("--check", action="store_true", help="only compare what the programs compute")
    options = options.parse_args()
    rows = [row for row in ROWS if any(fnmatch.fnmatch(row, pattern) for pattern in options.rows)]
    what = "threads" if options.threads else "flags" if options.flags else "peers"
    if options.threads: # nothing is shared there
        rows = [row for row in rows if not row.startswith("chain_") and row != "first_result"]
    names = list(VARIANTS[what][0]) if what in VARIANTS else [n for n in TITLES if n in options.only and n not in options.without]
    if not rows or not names:
        stop("nothing to measure")

    BUILD.mkdir(parents=True, exist_ok=True)
    peers = [n for n in names if n in PACKAGES]
    failed = install(peers) if peers else []
    names = [n for n in names if n not in failed]
    for name in names:
        if name not in PACKAGES and name != "rill_threads":
            build(name)
    if (load := os.getloadavg()[0]) > 1.5:
        say(f"the machine is busy (load {load:.1f}): these times will be too long")

    programs = start(names)
    for row in rows:
        say(f"checking {row}")
        agree(row, programs)
    end(programs)
    if options.check:
        return
    # Anew: what a program has freed by now would save it the page faults of its large arrays, or not, as it happens.
    programs = start(names)
    results = {}
    for row in rows:
        say(f"timing {row}")
        results[row] = times(row, programs, options.rounds, options.seconds)
    end(programs)
    command = " ".join(["python3", "bench/peers/run.py", *sys.argv[1:]])
    text = f"`{command}` · {datetime.date.today()} · {machine(names, failed, options.rounds)}\n\n" # as check_benchmarks.py asks
    text += variants_table(results, what) if what in VARIANTS else table(results, names)
    print(text)
    if rows == ROWS or (what in VARIANTS and options.rows == ["*"]):
        publish(what, text)


if __name__ == "__main__":
    main()
