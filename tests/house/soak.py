# SPDX-License-Identifier: BSD-3-Clause
"""Runs every random test of a build with new seeds for a while, then the tests of crashes, kills and cuts with many of them and SEEDS seeds
of each test in virtual time, and says how a failure is found again.

    soak.py BUILD SECONDS SEEDS [FIRST_SEED]"""
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# tests in real time, which count by variables of their own: crashes while files are written, tasks that are killed, frozen or cut off
COUNTED = [("rill_tests_io", "checkpoint: G*", {"RILL_CRASHES": 2000, "RILL_FLIP_BYTES": 65536}),
           ("rill_tests_train", "saver: G20*", {"RILL_KILLS": 1000}),
           ("rill_tests_distributed", "faults: processes*", {"RILL_KILLS": 1000, "RILL_QUIET_STEPS": 20000}),
           ("rill_tests_distributed", "processes: whoever*", {"RILL_ROUNDS": 100}),
           ("rill_tests_distributed", "processes: one that stands still*", {"RILL_ROUNDS": 75}),
           ("rill_tests_distributed", "processes: tasks start*", {"RILL_ROUNDS": 200}),
           ("rill_tests_distributed", "processes: sessions and servers*", {"RILL_ROUNDS": 500}),
           ("rill_tests_distributed", "worker processes: G6*", {"RILL_ADDS": 1_000_000}),
           ("rill_tests_distributed", "worker processes: G8*", {"RILL_ROUNDS": 300}),
           ("rill_tests_distributed", "worker processes: G9*", {"RILL_STEPS": 100_000}),
           ("rill_tests_distributed", "transports: G5*", {"RILL_ROUNDS": 100}),
           ("rill_tests_distributed", "transports: G15*", {"RILL_MESSAGES": 1_000_000}),
           ("rill_tests_distributed", "transports: G17*", {"RILL_ROUNDS": 50}),
           ("rill_tests_distributed", "zmq transport: G17*", {"RILL_ROUNDS": 50}),
           ("rill_tests_distributed", "hostile bytes: G16*", {"RILL_CONNECTIONS": 1000}),
           ("rill_tests_distributed", "server: G11*", {"RILL_ROUNDS": 500}),
           ("rill_tests_faults", "allocations: G24: one of any thread*", {"RILL_ALLOCATIONS": 2000}),
           ("rill_tests_distributed", "server: G6*[real_time]", {"RILL_SEEDS": 100})]
# tests in virtual time, each of which runs SEEDS seeds
VIRTUAL = [("rill_tests_distributed", "channel:*[random]"), ("rill_tests_distributed", "server:*[random]~[real_time]"),
           ("rill_tests_distributed", "cluster session:*[random]"), ("rill_tests_distributed", "simulated training:*[random]"),
           ("rill_tests", "random schedules*")]


def random_tests(program):
    """Returns the names of a program's test cases with the tag [random]."""
    said = subprocess.run([program, "--list-test-names-only", "[random]"], stdout=subprocess.PIPE, text=True).stdout
    return [line.strip() for line in said.splitlines() if line.strip()]


def main():
    build, seconds, seeds = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    first = int(sys.argv[4]) if len(sys.argv) > 4 and sys.argv[4] else int(time.time())
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
    counted = [(build / "tests" / program, name, variables)
               for program, name, variables in COUNTED + [(*test, {"RILL_SEEDS": seeds}) for test in VIRTUAL]
               if (build / "tests" / program).exists()]
    environment.pop("RILL_SOAK_SECONDS")
    for program, name, variables in counted:
        begin = time.time()
        result = subprocess.run([program, name], env={**environment, **{v: str(n) for v, n in variables.items()}}, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, errors="replace")
        good = result.returncode == 0 and not re.search("No test cases matched|No tests ran", result.stdout)
        failed += not good
        said = " ".join(f"{v}={n}" for v, n in variables.items())
        print(f"{'passed' if good else 'FAILED'}  {name} {said}, {time.time() - begin:.0f} s", flush=True)
        if not good:
            print(f"{result.stdout[-6000:]}\nagain: RILL_FIRST_SEED={first} {said} {program} '{name}'\n", flush=True)
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
