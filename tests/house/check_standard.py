# SPDX-License-Identifier: BSD-3-Clause
"""A program that is compiled for C++17 gets the one #error that says what to do, and no errors that follow from it."""
import subprocess
import sys
import tempfile
from pathlib import Path

from compiling import arguments

MOST_LINES = 14  # the #error and the end of the compilation, each with the includes that lead to it
NEEDED, END = "rill needs C++20: compile with -std=c++20", "nothing more of rill is read without C++20"
# a header that a program may include first -> a line that uses it
PROGRAMS = {"rill.hpp": 'rill::placeholder<float, 2> x("x");', "session/session.hpp": "rill::session s;",
            "distributed.hpp": 'rill::local_cluster all({{"worker", 1}});', "src.hpp": ""}


def faults(said):
    """What is wrong with the lines that a compiler has said of a program."""
    errors = [line for line in said if "error:" in line]
    problems = [] if any(NEEDED in line for line in errors) else ["nothing says that C++20 is needed"]
    problems += [f"another error: {line}" for line in errors if NEEDED not in line and END not in line]
    if len(said) > MOST_LINES:
        problems.append(f"{len(said)} lines, over {MOST_LINES}")
    return problems


def main():
    options = arguments(__doc__).parse_args()
    problems = []
    for header, use in PROGRAMS.items():
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "hello.cpp"
            program.write_text(f"#include <rill/{header}>\nint main() {{ {use} }}\n")
            said = subprocess.run([options.compiler, "-std=c++17", "-fsyntax-only", *(f"-I{f}" for f in options.include), program],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace").stdout.splitlines()
        if found := faults(said):
            problems += [f"rill/{header}:", *found, *said[:40]]
    print("\n".join(problems) or f"one error each for {len(PROGRAMS)} headers")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
