# SPDX-License-Identifier: BSD-3-Clause
"""docs/adding_an_op.md, done as it says: each example's files are put into a copy of the tree, and its tests are compiled
with the headers alone and run. The checks of the house hold there, too."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from compiling import WARNINGS, arguments, compile_file

BLOCK = re.compile(r"^```(cpp|diff)\n// (\S+)\n(.*?)^```$", re.M | re.S)
EXAMPLES = 4
CHECKS = ("check_includes.py", "check_tests.py", "check_gradients.py", "check_op_names.py")


def examples(page):
    """Returns (title, [(kind, file, text)]) of each "## " section that has blocks: headers, the changed catalogue, tests."""
    all_of_them = []
    for section in re.split(r"^## ", page, flags=re.M)[1:]:
        title = section.splitlines()[0]
        blocks = BLOCK.findall(section)
        if section.count("```") != 2 * len(blocks):
            raise SystemExit(f"'{title}': a block names no file")
        if not blocks:
            continue
        for kind, name, _ in blocks:
            if kind == "cpp" and not name.startswith(("include/rill/", "tests/")):
                raise SystemExit(f"'{title}': {name} is neither a header nor a test")
        headers, tests = new_files(blocks, "include/"), new_files(blocks, "tests/")
        if not headers or len(tests) != len(headers) or [kind for kind, _, _ in blocks].count("diff") != 1:
            raise SystemExit(f"'{title}': headers, one change of a catalogue and a test for each header are promised: "
                             f"{[name for _, name, _ in blocks]}")
        all_of_them.append((title, blocks))
    if len(all_of_them) != EXAMPLES:
        raise SystemExit(f"{EXAMPLES} examples are promised, not {len(all_of_them)}")
    return all_of_them


def new_files(blocks, folder):
    """Returns [(file, text)] of the new files below a folder."""
    return [(name, text) for kind, name, text in blocks if kind == "cpp" and name.startswith(folder)]


def apply_changes(file, changes):
    """Applies a change: ' line' is to be found, '+line' goes behind the last one found or added, '-line' away. Returns the structs
    that it adds."""
    lines = file.read_text().splitlines()
    at = None
    for change in changes.splitlines():
        mark, line = change[:1], change[1:]
        if mark == "+":
            if at is None:
                raise SystemExit(f"{file.name}: it is not said where '{line}' goes")
            lines.insert(at, line)
            at += 1
        elif mark in (" ", "-"):
            if lines.count(line) != 1:
                raise SystemExit(f"{file.name}: '{line}' is there {lines.count(line)} times, not once")
            at = lines.index(line)
            if mark == "-":
                del lines[at]
            else:
                at += 1
        else:
            raise SystemExit(f"{file.name}: what is '{change}'?")
    file.write_text("\n".join(lines) + "\n")
    return re.findall(r"^\+ +(\w+_(?:op|rule))\b", changes, re.M)


def write_files(root, title, blocks):
    """Writes an example's files and returns its program: all of its tests."""
    tests = [name for name, _ in new_files(blocks, "tests/")]
    for name, text in new_files(blocks, ""):
        if (root / name).exists():
            raise SystemExit(f"'{title}': {name} is there already: the page needs another example")
        (root / name).write_text(text)
    catalogue, changes = next((name, text) for kind, name, text in blocks if kind == "diff")
    structs = apply_changes(root / catalogue, changes)
    if not structs:
        raise SystemExit(f"'{title}': the change of {catalogue} adds no struct")
    list_name = "catalogue" if "/ops/" in catalogue else "optimizer_rules"
    program = root / f"{Path(tests[-1]).stem}_program.cpp"
    lines = [f'#include "{test}"' for test in tests] + [f"#include <{catalogue.removeprefix('include/')}>"]
    lines += [f"static_assert(rill::detail::is_listed<rill::{struct}, rill::{list_name}>);" for struct in structs]
    program.write_text("\n".join(lines) + "\n")
    return program


def compile_object(options, source):
    """Returns what is wrong."""
    good, said = compile_file(options, source, *WARNINGS, "-O0", f"-I{options.root}", f"-I{options.root}/include",
                              f"-I{options.root}/tests", "-c", "-o", str(source.with_suffix(".o")))
    return "" if good else f"{source.stem} does not compile:\n{said[:4000]}"


def run_program(options, program, shared):
    catch3 = not any((Path(f) / "catch2" / "catch.hpp").exists() for f in [*options.include, "/usr/include"])
    libraries = ["-lCatch2Main", "-lCatch2"] if catch3 else []
    binary = program.with_suffix("")
    linked = subprocess.run([options.compiler, program.with_suffix(".o"), *shared, "-o", binary, "-pthread", *libraries,
                             "-ldl"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if linked.returncode:
        return f"{program.stem} does not link:\n{linked.stdout[-4000:]}"
    result = subprocess.run([binary], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    return "" if result.returncode == 0 else f"{program.stem} fails:\n{result.stdout[-4000:]}"


def main():
    options = arguments(__doc__).parse_args()
    source = options.root
    page = examples((source / "docs" / "adding_an_op.md").read_text())
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        for name in ("include", "tests"):
            shutil.copytree(source / name, root / name)
        options.include = [f for f in options.include if not Path(f).is_relative_to(source / "include")]
        options.root = root
        programs = [write_files(root, title, blocks) for title, blocks in page]
        problems = []
        for check in CHECKS:
            result = subprocess.run([sys.executable, "-B", root / "tests" / "house" / check, root],
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if result.returncode:
                problems.append(f"{check}:\n{result.stdout}")
        shared = [root / "tests" / "main.cpp", root / "tests" / "harness.cpp"]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            wrong = list(filter(None, pool.map(lambda p: compile_object(options, p), [*programs, *shared])))
        problems += wrong
        if not wrong:
            problems += filter(None, (run_program(options, p, [f.with_suffix(".o") for f in shared]) for p in programs))
    print("\n".join(problems) or f"{len(programs)} examples added, {sum(len(blocks) for _, blocks in page)} files")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
