# SPDX-License-Identifier: BSD-3-Clause
"""Runs every random test of a build with new seeds for a while, then the tests of crashes and kills with many of them, and says how a
failure is found again.

    soak.py BUILD SECONDS [FIRST_SEED]"""
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# tests that count by variables of their own: crashes while files are written, changed bytes, killed processes
COUNTED = [("rill_tests_io", "checkpoint: G*", {"RILL_CRASHES": "2000", "RILL_FLIP_BYTES": "65536"}),
           ("rill_tests_train", "saver: G20*", {"RILL_KILLS": "1000"})]


def random_tests(program):
    """Returns the names of a program's test cases with the tag [random]."""
    said = subprocess.run([program, "--list-test-names-only", "[random]"], stdout=subprocess.PIPE, text=True).stdout
    return [line.strip() for line in said.splitlines() if line.strip()]


def main():
    build, seconds = Path(sys.argv[1]), int(sys.argv[2])
    first = int(sys.argv[3]) if len(sys.argv) > 3 and sys.argv[3] else int(time.time())
    programs = [p for p in sorted((build / "tests").glob("rill_tests*")) if p.is_file() and os.access(p, os.X_OK)]
    tests = [(program, name) for program in programs for name in random_tests(program)]
    if not tests:
        sys.exit(f"{build} holds no random tests")
    each = max(1, seconds // (len(tests) + 1))  # the last share is for graphs that strangers might send
    print(f"{len(tests)} random tests and the fuzzer, {each} s each, seeds from {first}", flush=True)
    environment = {**os.environ, "RILL_TEST_DATA": str(ROOT / "tests" / "data"), "RILL_SOAK_SECONDS": str(each), "RILL_FIRST_SEED": str(first)}
    failed = 0
    for program, name in tests:
        escaped = name.replace("\\", "\\\\").replace(",", "\\,").replace("[", "\\[")
        result = subprocess.run([program, escaped], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        print(f"{'passed' if result.returncode == 0 else 'FAILED'}  {name}", flush=True)
        if result.returncode != 0:
            failed += 1
            print(f"{result.stdout[-6000:]}\nagain: RILL_FIRST_SEED={first} {program} '{escaped}', or RILL_SEED with the seed that it names\n", flush=True)
    counted = [(build / "tests" / program, *rest) for program, *rest in COUNTED if (build / "tests" / program).exists()]
    for program, name, counts in counted:
        said = " ".join(f"{variable}={count}" for variable, count in counts.items())
        result = subprocess.run([program, name], env={**environment, **counts}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, errors="replace")
        good = result.returncode == 0 and not re.search("No test cases matched|No tests ran", result.stdout)
        failed += not good
        print(f"{'passed' if good else 'FAILED'}  {name} {said}", flush=True)
        if not good:
            print(f"{result.stdout[-6000:]}\nagain: {said} {program} '{name}'\n", flush=True)
    fuzz = build / "tests" / "saved" / "rill_saved_fuzz"
    if fuzz.exists():
        command = [str(fuzz), str(each), *sorted(map(str, (ROOT / "tests/data/graphs").glob("*.rill"))), str(first % 2**32)]
        if subprocess.run(command).returncode != 0:
            failed += 1
            print(f"again: FUZZ_VERBOSE=1 {' '.join(command)}, which names each round; with 0.001 and a round's number that round alone", flush=True)
    print(f"{len(tests) + len(counted) + fuzz.exists() - failed} passed, {failed} failed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
