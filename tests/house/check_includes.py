# SPDX-License-Identifier: BSD-3-Clause
"""Include directions: a folder of include/rill/ includes only itself and what the table names; see docs for the layers."""
import re
import sys
from pathlib import Path

MAY_USE = {
    "core": "",
    "io": "core",
    "graph": "core",
    "device": "core",
    "expr": "core graph device",
    "resources": "core graph device",
    "passes": "core graph device",
    "runtime": "core graph device expr resources passes",
    # what header-only programs compile because their ops refer to it, and only then: the one door from ops to runtime
    "link": "core graph device expr resources passes runtime",
    "ops": "core io graph device expr resources link",
    "session": "core graph device expr resources passes runtime",
    "eager": "core graph device expr resources ops passes runtime session",
    # not distributed: rill.hpp brings train and data, and only rill/distributed.hpp brings ZeroMQ
    "distributed": "core io graph device expr resources ops passes runtime session eager",
    "summary": "core io graph device expr resources ops passes runtime session eager",
    "train": "core io graph device expr resources ops passes runtime session eager summary",
    "data": "core io graph device expr resources ops passes runtime session eager summary train",
    "estimator": "core io graph device expr resources ops passes runtime session eager summary train data",
}
FOR_ALL = {"config.hpp", "options.hpp"}  # the only headers of the top folder that a folder may include
# above device/, and in its own headers for all devices, none is known in particular; but for the one that names those that a
# file compiles for
PARTICULAR = re.compile(r"device/(cpu|cuda|thrust)/")
NAMES_DEVICES = "device/devices.hpp"
# rill.hpp stays light: these belong to headers of their own
TOO_DEAR = re.compile(r"^(iostream|filesystem|cereal/.*|tbb/.*|oneapi/.*|nlohmann/.*|zmq.*|rill/device/(cuda|thrust)/.*|thrust/.*"
                      r"|rill/distributed.*)$")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def includes(file):
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if match := INCLUDE.match(line):
            yield number, match[1], match[2]


def forwards(file):
    """Returns true for the former path of a public header, which says so and includes the new one."""
    return "\n// The former path of a public header.\n" in file.read_text()


def check(root):
    top = root / "include" / "rill"
    former = {f"rill/{p.relative_to(top).as_posix()}" for p in top.rglob("*.hpp") if forwards(p)}
    problems = []
    reached = set()  # by rill.hpp, through our own headers

    for file in sorted(top.rglob("*.[hi]pp")):
        name = file.relative_to(top).as_posix()
        folder = name.split("/")[0] if "/" in name else None
        if folder and folder not in MAY_USE:
            problems.append(f"include/rill/{name}: folder {folder}/ is not in the table of {Path(__file__).name}")
            continue
        if f"rill/{name}" in former:
            continue
        for number, mark, what in includes(file):
            where = f"include/rill/{name}:{number}: #include {what}:"
            if mark == '"':
                problems.append(f"{where} write <rill/...>, so that every header has one name")
            if not what.startswith("rill/"):
                continue
            if what in former:
                problems.append(f"{where} is a former path")
            target = what.removeprefix("rill/")
            if target != "options.hpp" and not (top / target).exists():
                problems.append(f"{where} there is no such header")
            if not folder or target in FOR_ALL:
                continue
            other = target.split("/")[0]
            if "/" not in target:
                problems.append(f"{where} {folder}/ may not use a header that collects others")
            elif other != folder and other not in MAY_USE[folder].split():
                problems.append(f"{where} {folder}/ may use only: {MAY_USE[folder] or 'itself'}")
            elif PARTICULAR.match(target) and not PARTICULAR.match(name) and name != NAMES_DEVICES:
                problems.append(f"{where} only {NAMES_DEVICES} may know a particular device")

    def walk(name):
        if name in reached or not (top / name).exists():
            return
        reached.add(name)
        for number, _, what in includes(top / name):
            if TOO_DEAR.match(what):
                problems.append(f"include/rill/{name}:{number}: #include {what}: rill.hpp reaches this, and must not")
            if what.startswith("rill/"):
                walk(what.removeprefix("rill/"))

    sys.setrecursionlimit(10000)
    walk("rill.hpp")
    return problems


if __name__ == "__main__":
    found = check(Path(sys.argv[1]))
    print("\n".join(found) or "every include points the right way")
    sys.exit(bool(found))
