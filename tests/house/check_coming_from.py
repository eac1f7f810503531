# SPDX-License-Identifier: BSD-3-Clause
"""docs/coming_from.md shows code of tests/coming_from.cpp, which is compiled and run: every form in the last column of its table
occurs in a line that ends with "// page", and every such line shows a form of the table."""
import re
import sys
from pathlib import Path

PAGE, TEST, MARK = "docs/coming_from.md", "tests/coming_from.cpp", "// page"
CELLS = re.compile(r"(?<!\\)\|")


def forms(page):
    """Returns the code in the last cells of the rows whose header ends with "rill"."""
    found, in_table = [], False
    for line in page.splitlines():
        cells = [cell.strip() for cell in CELLS.split(line.strip())[1:-1]]
        if not cells:
            in_table = False
        elif cells[-1] == "rill":
            in_table = True
        elif in_table and not re.fullmatch(r"[-: ]+", cells[-1]):
            found += re.findall(r"`([^`]+)`", cells[-1]) or [f"(no code) {line}"]
    return found


def check(root):
    lines = [line.strip().removesuffix(MARK) for line in (root / TEST).read_text().splitlines()
             if line.rstrip().endswith(MARK)]
    shown = forms((root / PAGE).read_text())
    problems = [f"{PAGE} has no forms"] * (not shown)
    problems += [f"{PAGE}: '{form}': no line of {TEST} with '{MARK}' has it" for form in shown
                 if not any(form in line for line in lines)]
    problems += [f"{TEST}: '{line.strip()}': {PAGE} does not show it" for line in lines
                 if not any(form in line for form in shown)]
    return problems


if __name__ == "__main__":
    found = check(Path(sys.argv[1]))
    print("\n".join(found) or "every form of the page is compiled")
    sys.exit(bool(found))
