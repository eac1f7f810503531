# SPDX-License-Identifier: BSD-3-Clause
"""Every table of docs/benchmarks.md has a line above it that says how to repeat it: "`command` · date · machine". The date is
YYYY-MM-DD or "date not recorded"."""
import re
import sys
from pathlib import Path

PAGE = "docs/benchmarks.md"
SOURCE = re.compile(r"^`[^`]+`.* · (\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])|date not recorded) · \S")


def tables(text):
    """Yields (line number, the nearest line of text above, the first row) of each table; code blocks are left out."""
    lines, above, at, code = text.splitlines(), "", 0, False
    while at < len(lines):
        line = lines[at].strip()
        if line.startswith("```"):
            code = not code
        if not code and line.startswith("|"):
            start = at
            while at < len(lines) and lines[at].strip().startswith("|"):
                at += 1
            yield start + 1, above, line
            above = ""  # one line is for one table
            continue
        if line:
            above = line
        at += 1


def check(root):
    found = list(tables((root / PAGE).read_text()))
    return [f"{PAGE} has no table"] * (not found) + [
        f"{PAGE}:{line}: '{row}': the line above is '{above}', not \"`command` · date · machine\""
        for line, above, row in found if not SOURCE.match(above)]


if __name__ == "__main__":
    found = check(Path(sys.argv[1]))
    print("\n".join(found) or "every table has its command and its date")
    sys.exit(bool(found))
