# SPDX-License-Identifier: BSD-3-Clause
"""One compile-failure case. Its first comment says what the compiler must say:

    // expect: <regular expression, in the first line that holds "error:">
    // shows: <text within the first 12 lines; several such lines are allowed>
    // at most: <number> bytes (of all that the compiler says; without the line, 8000)

The wrong form stands under #else of #ifdef RILL_POSITIVE_TWIN, the form that compiles under the #ifdef: without it, a
typing error in the case would pass for the error that was meant."""
import re
import sys
from pathlib import Path

from compiling import arguments, compile_file

MOST_LINES, MOST_BYTES = 12, 8000


def complaint(options):
    text = options.case.read_text()
    expect = re.findall(r"^// expect: (.+)$", text, re.M)
    shows = re.findall(r"^// shows: (.+)$", text, re.M)
    if len(expect) != 1 or "#ifdef RILL_POSITIVE_TWIN" not in text or "#else" not in text:
        return "the case needs one '// expect:' line, and #ifdef RILL_POSITIVE_TWIN ... #else ... #endif", ""

    form = ["-DRILL_COMPILED=1"] if options.linked else []
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
    parser.add_argument("--case", type=Path, required=True)
    parser.add_argument("--linked", action="store_true", help="as programs that link rill::kernels: a fifth of the time")
    options = parser.parse_args()
    wrong, said = complaint(options)
    if wrong:
        print(f"{options.case.name}: {wrong}")
    print(f"---- {options.compiler} says:\n{said[:6000]}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
