# SPDX-License-Identifier: BSD-3-Clause
"""The table of docs/gradients.md that is made of tests/data/tensorflow.txt: gradients_page.py write|check <root>."""

import re
import sys
from pathlib import Path

AT = ("-inf", "-1", "-0.5", "0", "0.5", "1", "6", "inf", "nan")
SIGNS = {"inf": "∞", "-inf": "-∞", "nan": "NaN"}
BEGIN, END = "<!-- from tests/data/tensorflow.txt: make docs -->\n", "<!-- end -->"


def number(word):
    """What it is here: behind the bar, where TensorFlow's is another."""
    return float(word.split("|")[-1])


def row(lines):
    """The gradients of a graph of one op of one operand, by where; None of other graphs."""

    def elements(begin):
        found = [line for line in lines if line.startswith(begin)]
        return found[0].split()[found[0].split().index("[30]") + 1 :] if found and "[30]" in found[0] else None

    x, g, dx = elements("in "), elements("gy "), elements("dx ")
    if "dx 0 zero" in lines:
        return {where: 0.0 for where in AT}
    if not x or not g or not dx or sum(line.startswith("in ") for line in lines) != 1:
        return None
    return {where: number(d) / number(s) for where, s, d in zip(x, g, dx)}


def text(gradient):
    if gradient == 0:
        return "0"
    return SIGNS.get(f"{gradient:.3g}", f"{gradient:.3g}")


def table(data):
    rows = {}
    for graph in re.split(r"^graph ", data, flags=re.M)[1:]:
        title, *lines = graph.splitlines()
        if re.fullmatch(r"\w+ float64\[30\]", title) and (found := row(lines)):
            rows[title.split()[0]] = found
    head = "| op | " + " | ".join(SIGNS.get(where, where) for where in AT) + " |\n"
    return (
        head
        + "|---" * (len(AT) + 1)
        + "|\n"
        + "".join(
            f"| {op} | " + " | ".join(text(at[where]) for where in AT) + " |\n" for op, at in sorted(rows.items())
        )
    )


if __name__ == "__main__":
    how, root = sys.argv[1], Path(sys.argv[2])
    page = root / "docs" / "gradients.md"
    there = page.read_text()
    begin = there.index(BEGIN) + len(BEGIN)
    wanted = there[:begin] + table((root / "tests" / "data" / "tensorflow.txt").read_text()) + there[there.index(END) :]
    if how == "write":
        page.write_text(wanted)
    elif there != wanted:
        sys.exit("docs/gradients.md is not what tests/data/tensorflow.txt says: make docs")
