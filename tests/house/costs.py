# SPDX-License-Identifier: BSD-3-Clause
"""What the tests cost: CPU seconds and peak memory of each translation unit, seconds that each test file runs.

    costs.py run LOG COMMAND...   runs a compiler as its launcher, and adds a line to LOG
    costs.py table BUILD LOG      runs the test programs of a build folder and writes the tables (Markdown) to standard output
    costs.py checks ROOT LOG      runs `make check` for each kind after another, and writes a table of their CPU seconds; what make says goes to LOG

`make test-costs` calls the first two; with BATCH=1 every test file is a unit of its own. `make test-costs CHECKS=1` calls the third."""
import os
import re
import resource
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from pathlib import Path

MOST_ROWS = 25
MOST_MEGABYTES = 2048  # of a unit: two of them are compiled at once on a machine of 4 GB


def run(log, command):
    """Runs a compiler call; its line holds CPU seconds, peak memory in MB and the object's path."""
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    if "-o" in command:
        output = command[command.index("-o") + 1]
        with open(log, "a") as lines:
            lines.write(f"{usage.ru_utime + usage.ru_stime:.2f} {usage.ru_maxrss / 1024:.0f} {output}\n")
    return os.waitstatus_to_exitcode(status)


def compiled(build, log):
    """Returns (CPU seconds, peak MB, name, files) of each unit, the dearest first."""
    units = []
    for line in log.read_text().splitlines():
        seconds, megabytes, output = line.split(" ", 2)
        name = re.sub(r"CMakeFiles/|\.dir|Unity/|_cxx\.cxx\.o|\.cpp\.o|\.gch", "", output)
        source = build / output.removesuffix(".o")
        text = source.read_text() if "/Unity/" in output and source.exists() else ""
        files = [Path(file).name for file in re.findall(r'#include "([^"]+\.cpp)"', text)]
        units.append((float(seconds), int(megabytes), name, files))
    return sorted(units, reverse=True)


def running(build, root):
    """Returns the seconds that the test cases of each file run, by the file's path below tests/."""
    seconds = defaultdict(float)
    environment = {**os.environ, "RILL_TEST_DATA": str(root / "tests" / "data")}
    for program in sorted((build / "tests").glob("rill_tests*")):
        if program.is_dir() or not os.access(program, os.X_OK):
            continue
        said = subprocess.run([program, "--reporter", "xml", "--durations", "yes"], env=environment, stdout=subprocess.PIPE).stdout
        for case in ElementTree.fromstring(said).iter("TestCase"):
            file = case.get("filename").rpartition("/tests/")[2]
            seconds[file] += float(case.find("OverallResult").get("durationInSeconds", 0))
    return seconds


def table(build, log):
    root = Path(__file__).resolve().parents[2]
    units = compiled(build, log)
    print(f"{len(units)} units, {sum(u[0] for u in units):.0f} CPU seconds; the largest takes {max(u[1] for u in units)} MB\n")
    large = [f"{name} ({megabytes} MB)" for _, megabytes, name, _ in units if megabytes > MOST_MEGABYTES]
    print(f"WARNING: {len(large)} units take more than {MOST_MEGABYTES} MB: {', '.join(large)}\n" if large else f"no unit takes more than {MOST_MEGABYTES} MB\n")
    totals = defaultdict(float)
    for seconds, _, name, _ in units:
        totals[name.rpartition("/")[0] or name] += seconds
    print("| compiled for | CPU s |\n|---|---|")
    for name, seconds in sorted(totals.items(), key=lambda row: -row[1]):
        print(f"| {name} | {seconds:.0f} |")
    print("\n| unit | CPU s | peak MB | files |\n|---|---|---|---|")
    for seconds, megabytes, name, files in units[:MOST_ROWS]:
        print(f"| {name} | {seconds:.1f} | {megabytes} | {' '.join(files)} |")
    print("\n| test file | runs s |\n|---|---|")
    ran = running(build, root)
    for file, seconds in sorted(ran.items(), key=lambda row: -row[1])[:MOST_ROWS]:
        print(f"| {file} | {seconds:.2f} |")
    print(f"| all {len(ran)} | {sum(ran.values()):.1f} |")
    return 0


def cpu_seconds():
    """Returns the CPU seconds of all processes that were started here and have ended, and of theirs."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def checks(root, log, make="make"):
    """Writes a row for each kind of `make check`. Returns 1 if one of them fails, after all have run."""
    from reach import KINDS  # not above: `run` starts with every compiler call

    print("| `make check CHECK_KINDS=` | CPU s | s | |\n|---|--:|--:|---|", flush=True)
    failed = 0
    with open(log, "w") as said:
        for kind in KINDS:
            cpu, begin = cpu_seconds(), time.monotonic()
            status = subprocess.run([make, "-C", root, "check", f"CHECK_KINDS={kind}"], stdout=said, stderr=subprocess.STDOUT, check=False).returncode
            failed += status != 0
            print(f"| {kind} | {cpu_seconds() - cpu:.0f} | {time.monotonic() - begin:.0f} | {'failed' if status else ''} |", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["run"]:
        sys.exit(run(sys.argv[2], sys.argv[3:]))
    if sys.argv[1:2] == ["table"] and len(sys.argv) == 4:
        sys.exit(table(Path(sys.argv[2]), Path(sys.argv[3])))
    if sys.argv[1:2] == ["checks"] and len(sys.argv) == 4:
        sys.exit(checks(Path(sys.argv[2]), Path(sys.argv[3])))
    sys.exit(__doc__)
