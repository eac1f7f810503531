# SPDX-License-Identifier: BSD-3-Clause
"""Header sizes (definitions in *.ipp count as headers): median under 150 lines, none over 400 unless one of its first 12 lines says `// size: <reason>`.
A page for new readers has at most so many lines."""
import re
import statistics
import sys
from pathlib import Path

MEDIAN, MOST = 150, 400
PAGES = {"docs/how_it_works.md": 250}


def check(root):
    lines = {p.relative_to(root).as_posix(): p.read_text().splitlines() for p in (root / "include").rglob("*.[hi]pp")}
    if not lines:
        return ["there is no header"]
    problems = [f"{name}: {len(text)} lines, over {MOST}: split it, or say why not by `// size: <reason>` at its top"
                for name, text in sorted(lines.items())
                if len(text) > MOST and not any(re.match(r"// size: \S+", line) for line in text[:12])]
    median = statistics.median(len(text) for text in lines.values())
    if median >= MEDIAN:
        problems.append(f"the median header has {median:.0f} lines, {MEDIAN} or more")
    for page, most in PAGES.items():
        count = len((root / page).read_text().splitlines())
        if count > most:
            problems.append(f"{page}: {count} lines, over {most}: move details to the page of their subject")
    return problems


if __name__ == "__main__":
    found = check(Path(sys.argv[1]))
    print("\n".join(found) or "sizes are within bounds")
    sys.exit(bool(found))
