#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A program that links rill::kernels contains what it names, not the whole library.

    check_program_size.py PROGRAM BYTES    fails if the program has more code, or kernels of ops that it does not name"""
import subprocess
import sys

UNUSED = ["::qr_op", "::conv2d_op", "::svd_op", "::import_graph"]
USED = "::mul_op"  # so that the check can fail

program, limit = sys.argv[1], int(sys.argv[2])
code = int(subprocess.run(["size", program], capture_output=True, text=True, check=True).stdout.splitlines()[1].split()[0])
names = subprocess.run(["nm", "-C", program], capture_output=True, text=True, check=True).stdout
assert USED in names, f"{program} has no {USED}"
problems = [f"{program} has code of {name}" for name in UNUSED if name in names]
if code > limit:
    problems.append(f"{program} has {code} bytes of code, more than {limit}")
print("\n".join(problems) or f"{program}: {code} bytes of code")
sys.exit(bool(problems))
