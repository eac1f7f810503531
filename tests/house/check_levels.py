#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What rill::kernels holds for better processors stays by itself.

    check_levels.py object…

Each object may define the functions of its kernel_level for other files: any other would be a function of the standard library,
compiled for a processor that the program may not have, which the linker might take for the whole program. And it may initialise
nothing: that would run before anybody has asked the processor."""
import re
import subprocess
import sys
from pathlib import Path

LEAST = 500  # kernels of the catalogue, by op and element type


def problems(path: str) -> list[str]:
    listed = subprocess.run(["nm", "--defined-only", "--extern-only", path], capture_output=True, text=True, check=True)
    symbols = [line.split()[-1] for line in listed.stdout.splitlines()]
    own = re.compile(rf"_ZN4rill\w*12kernel_levelILi{re.search(r'_v([0-9])', Path(path).name)[1]}EE")
    found = [f"defines '{s}' for the whole program" for s in symbols if not own.match(s)]
    if len(symbols) - len(found) < LEAST:
        found.append(f"has {len(symbols) - len(found)} functions of its kernel_level")
    sections = subprocess.run(["objdump", "--section-headers", path], capture_output=True, text=True, check=True).stdout
    return [f"has a section {name}" for name in (".init_array", ".ctors", ".preinit_array") if name in sections] + found


def main() -> int:
    failed = 0
    for path in sys.argv[1:]:
        for problem in problems(path)[:20]:
            print(f"{path}: {problem}")
            failed = 1
    if not failed:
        print(f"{len(sys.argv) - 1} objects stay by themselves")
    return failed


if __name__ == "__main__":
    sys.exit(main())
