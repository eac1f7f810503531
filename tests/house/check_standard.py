# SPDX-License-Identifier: BSD-3-Clause
"""A program that is compiled for C++17 gets the one #error that says what to do, and no errors that follow from it."""
import subprocess
import sys
import tempfile
from pathlib import Path

from compiling import arguments

MOST_LINES = 14  # the #error and the end of the compilation, each with the includes that lead to it


def main():
    options = arguments(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "hello.cpp"
        program.write_text("#include <rill/rill.hpp>\nint main() { rill::placeholder<float, 2> x(\"x\"); }\n")
        said = subprocess.run([options.compiler, "-std=c++17", "-fsyntax-only", *(f"-I{f}" for f in options.include), program],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace").stdout.splitlines()
    problems = [] if any("rill needs C++20: compile with -std=c++20" in line for line in said) else ["nothing says that C++20 is needed"]
    if len(said) > MOST_LINES:
        problems.append(f"{len(said)} lines, over {MOST_LINES}")
    print("\n".join([*problems, *said[:40]] if problems else ["one error"]))
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
