# SPDX-License-Identifier: BSD-3-Clause
"""Writes one file that holds <rill/rill.hpp> and every header it brings, in the order in which the preprocessor meets them.

    python3 docs/packages/amalgamate.py OUTPUT
"""
import re
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2] / "include"
OPTIONS = "rill/options.hpp"  # what CMake generated: here options are macros on the command line
# The conditions round our own includes that always hold in a program of headers alone: what stands behind another may be
# needed again where that one does not hold, and would be missing there.
ALWAYS = {"!RILL_COMPILED", "RILL_DEFINE", f"__has_include(<{OPTIONS}>)"}
HEAD = """// SPDX-License-Identifier: BSD-3-Clause
// rill {version}, the headers alone in one file, made from include/rill by docs/packages/amalgamate.py. The licence is below.
#pragma once

#if defined(RILL_COMPILED) && RILL_COMPILED
#error "rill in one file is the headers alone: compile without RILL_COMPILED"
#endif
#ifdef RILL_MORE_DEVICES
#error "rill in one file is for the CPU alone: for RILL_MORE_DEVICES use the folder include/rill"
#endif

/*
{licence}*/
"""


def lines(name, seen):
    seen.add(name)
    conditions = []
    for line in (TOP / name).read_text().splitlines():
        if match := re.match(r"\s*#\s*if(.*)", line):
            conditions.append(match[1].split("//")[0].strip())
        elif re.match(r"\s*#\s*(else|elif)", line):
            conditions[-1] = line.strip()
        elif re.match(r"\s*#\s*endif", line):
            conditions.pop()
        match = re.match(r"\s*#\s*include\s*<(rill/[^>]+)>", line)
        if not match:
            if line != "#pragma once" and not line.startswith("// SPDX"):
                yield line
            continue
        if unknown := set(conditions) - ALWAYS:
            sys.exit(f"{name}: {match[1]} is included under '{unknown.pop()}', which may not hold: see {Path(__file__).name}")
        if match[1] != OPTIONS and match[1] not in seen:
            yield from lines(match[1], seen)


def main():
    config = (TOP / "rill" / "config.hpp").read_text()
    version = ".".join(re.findall(r"^#define RILL_VERSION_[A-Z]+ (\d+)$", config, re.M))
    licence = (TOP.parent / "LICENSE").read_text()
    text = HEAD.format(version=version, licence=licence) + "\n".join(lines("rill/rill.hpp", set())) + "\n"
    output = Path(sys.argv[1])
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(re.sub(r"\n{3,}", "\n\n", text))


if __name__ == "__main__":
    main() if len(sys.argv) == 2 else sys.exit(__doc__)
