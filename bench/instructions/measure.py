#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Instructions of one step, counted by valgrind: the same on a busy machine and on an idle one, so that a regression shows.

    python3 bench/instructions/measure.py            # beside baseline.json; exits with 1 if one grew by more than 2 %
    python3 bench/instructions/measure.py --update   # writes baseline.json

Built for x86-64-v3: valgrind knows no AVX-512. Counts differ between compilers: the baseline names its own."""
import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BASELINE = HERE / "baseline.json"
STEPS = ("null_callable", "null_run_by_handle", "linear_regression_sgd", "train_4_10_10_3_batch_32", "gelu_of_1000",
         "cond_scalar", "while_scalar", "induction_variable", "scan_scalar", "primitives_raised", "primitives_dataflow", "queue_pair")
TOLERANCE = 0.02


def executed(program, step, times):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(program), step, str(times)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    return int(re.search(r"Collected : (\d+)", said)[1])


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--compiler", default="g++")
    options.add_argument("--include", nargs="*", default=[], help="where other libraries' headers are")
    options.add_argument("--update", action="store_true")
    options = options.parse_args()
    compiler = subprocess.run([options.compiler, "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "steps"
        subprocess.run([options.compiler, "-std=c++20", "-O2", "-DNDEBUG", "-march=x86-64-v3", f"-I{ROOT}/include",
                        *(f"-I{folder}" for folder in options.include), HERE / "steps.cpp", "-o", program, "-pthread"], check=True)
        few, many = 20, 220
        counts = {step: (executed(program, step, many) - executed(program, step, few)) // (many - few) for step in STEPS}

    before = json.loads(BASELINE.read_text()) if BASELINE.exists() else {"counts": {}}
    print("| step | instructions | baseline | change |\n|---|--:|--:|--:|")
    grown = []
    for step, now in counts.items():
        then = before["counts"].get(step)
        change = now / then - 1 if then else 0.0
        grown += [step] * (change > TOLERANCE)
        print(f"| {step} | {now:,} | {then or 0:,} | {change:+.1%} |")
    if options.update:
        BASELINE.write_text(json.dumps({"compiler": compiler, "counts": counts}, indent=2) + "\n")
    elif before.get("compiler") != compiler:
        print(f"the baseline is of {before.get('compiler')}, this is {compiler}: not compared")
    elif grown:
        sys.exit(f"more instructions than before: {', '.join(grown)}")


if __name__ == "__main__":
    main()
