# SPDX-License-Identifier: BSD-3-Clause
"""docs/adding_an_op.md, done as it says: each example's three files are put into a copy of the tree, and its test is compiled
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
FILES_EACH, EXAMPLES = 3, 3
CHECKS = ("check_includes.py", "check_tests.py", "check_gradients.py", "check_op_names.py")


def examples(page):
    """[(header, its text), (catalogue, its changes), (test, its text)] per "## " section that has any."""
    all_of_them = []
    for section in re.split(r"^## ", page, flags=re.M)[1:]:
        title = section.splitlines()[0]
        blocks = BLOCK.findall(section)
        if section.count("```") != 2 * len(blocks):
            raise SystemExit(f"'{title}': a block names no file")
        if not blocks:
            continue
        kinds = [kind for kind, _, _ in blocks]
        if len(blocks) != FILES_EACH or kinds != ["cpp", "diff", "cpp"]:
            raise SystemExit(f"'{title}': {FILES_EACH} files are promised, header, catalogue and test: {kinds}")
        all_of_them.append((title, [(name, text) for _, name, text in blocks]))
    if len(all_of_them) != EXAMPLES:
        raise SystemExit(f"{EXAMPLES} examples are promised, not {len(all_of_them)}")
    return all_of_them


def apply_changes(file, changes):
    """' line' is to be found, '+line' goes behind the last one found or added, '-line' away."""
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
    added = [re.findall(r"\w+_(?:op|rule)\b", line) for line in changes.splitlines() if line[:1] == "+"]
    return [names[-1] for names in added if names][-1]


def write_files(root, title, files):
    """Returns the example's program."""
    (header, header_text), (catalogue, changes), (test, test_text) = files
    for name, text in ((header, header_text), (test, test_text)):
        if (root / name).exists():
            raise SystemExit(f"'{title}': {name} is there already: the page needs another example")
        (root / name).write_text(text)
    struct = apply_changes(root / catalogue, changes)
    include = catalogue.removeprefix("include/")
    list_name = "catalogue" if "/ops/" in catalogue else "optimizer_rules"
    program = root / f"{Path(test).stem}_program.cpp"
    program.write_text(f'#include "{test}"\n#include <{include}>\n'
                       f"static_assert(rill::detail::is_listed<rill::{struct}, rill::{list_name}>);\n")
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
        programs = [write_files(root, title, files) for title, files in page]
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
    print("\n".join(problems) or f"{len(programs)} ops added, {FILES_EACH} files each")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
