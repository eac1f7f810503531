# SPDX-License-Identifier: BSD-3-Clause
"""One compile-failure case. Its first comment says what the compiler must say:

    // expect: <regular expression, in the first line that holds "error:">
    // shows: <text within the first 12 lines; several such lines are allowed>
    // at most: <number> bytes (of all that the compiler says; without the line, 8000)

The wrong form stands under #else of #ifdef RILL_POSITIVE_TWIN, the form that compiles under the #ifdef: without it, a
typing error in the case would pass for the error that was meant.

With --precompile the header is precompiled instead, as programs that link rill::kernels include it: for all cases after it."""
import re
import sys
from pathlib import Path

from compiling import arguments, compile_file

MOST_LINES, MOST_BYTES = 12, 8000
LINKED = ["-DRILL_COMPILED=1"]


def precompiled_header(options):
    """g++ finds it beside the name that a case includes; clang is told."""
    kind = "pch" if "clang" in Path(options.compiler).name else "gch"
    folder = options.build / "precompiled" / Path(options.compiler).name
    return folder, folder / "rill" / f"rill.hpp.{kind}"


def use_precompiled(options):
    folder, made = precompiled_header(options)
    if not made.exists():
        return []
    if made.suffix == ".pch":
        return ["-include-pch", str(made)]
    options.include.insert(0, str(folder))
    return ["-Winvalid-pch"]


def precompile(options):
    folder, made = precompiled_header(options)
    made.unlink(missing_ok=True)
    made.parent.mkdir(parents=True, exist_ok=True)
    header = folder / "all.hpp"
    header.write_text("#include <rill/rill.hpp>\n")
    good, said = compile_file(options, header, *LINKED, "-x", "c++-header", "-o", str(made))
    return None if good else "the header can't be precompiled", said


def complaint(options):
    text = options.case.read_text()
    expect = re.findall(r"^// expect: (.+)$", text, re.M)
    shows = re.findall(r"^// shows: (.+)$", text, re.M)
    if len(expect) != 1 or "#ifdef RILL_POSITIVE_TWIN" not in text or "#else" not in text:
        return "the case needs one '// expect:' line, and #ifdef RILL_POSITIVE_TWIN ... #else ... #endif", ""

    form = [*LINKED, *use_precompiled(options)] if options.linked else []
    good, said = compile_file(options, options.case, *form, "-fsyntax-only", "-DRILL_POSITIVE_TWIN")
    if not good:
        return "the positive twin does not compile", said
    good, said = compile_file(options, options.case, *form, "-fsyntax-only")
    if good:
        return "the wrong form compiles", said
    first = next((line for line in said.splitlines() if "error:" in line), "")
    if not re.search(expect[0], first.partition("error:")[2]):
        return f"the first error does not match: {expect[0]}", said
    top = "\n".join(said.splitlines()[:MOST_LINES])
    for part in shows:
        if part.strip() not in top:
            return f"the first {MOST_LINES} lines do not show: {part.strip()}", said
    most = int((re.findall(r"^// at most: (\d+) bytes$", text, re.M) or [MOST_BYTES])[0])
    if len(said) > most:
        return f"{len(said)} bytes of output, over {most}: the error cascades", said
    return None, said


def main():
    parser = arguments(__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--case", type=Path)
    what.add_argument("--precompile", action="store_true")
    parser.add_argument("--linked", action="store_true", help="as programs that link rill::kernels: a fifth of the time")
    options = parser.parse_args()
    wrong, said = precompile(options) if options.precompile else complaint(options)
    if wrong:
        print(f"{options.case.name if options.case else 'rill.hpp'}: {wrong}")
    print(f"---- {options.compiler} says:\n{said[:6000]}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
