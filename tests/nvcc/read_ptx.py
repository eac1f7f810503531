# SPDX-License-Identifier: BSD-3-Clause
"""Reads the PTX of kernels, as nvcc writes it, and says what is wrong with them.

A kernel must store to global memory: nvcc compiles a value function that it may not call into nothing, at most with a warning.
It may call nothing but CUDA's own internal functions. Local memory is slow: only sin, cos and tan have it, in CUDA's own reduction
of large angles.

    read_ptx.py FILE…"""
import re
import subprocess
import sys
from pathlib import Path

MAY_HAVE_LOCAL_MEMORY = re.compile(r"\b(sin|cos|tan)_op\b")
OWN_FUNCTIONS = re.compile(r"__internal_|__nv_|vprintf$|__assertfail$")
FUNCTION = re.compile(r"^(?:\.(?:visible|weak|extern)\s+)*\.(entry|func)\b[^{;]*?([\w$]+)\s*\(", re.M)
CALL = re.compile(r"\bcall(?:\.uni)?\s+(?:\([^)]*\)\s*,\s*)?([\w$%]+)")


def functions(text):
    """Yields (entry or func, name, body) of every function that has a body."""
    found = list(FUNCTION.finditer(text))
    for this, following in zip(found, [*found[1:], None]):
        body = text[this.end():following.start() if following else len(text)]
        if "{" in body:
            yield this[1], this[2], body


def readable(names):
    """Returns the names as C++ writes them, without the namespaces' versions."""
    said = subprocess.run(["c++filt"], input="\n".join(names), stdout=subprocess.PIPE, text=True, check=False).stdout.splitlines()
    return [re.sub(r"rill::v\w+::(?:detail::)?", "", name).removeprefix("void ") for name in said] if len(said) == len(names) else names


def check(text, least=1):
    """Returns the problems of a PTX file, which must hold at least so many kernels."""
    all_functions = list(functions(text))
    kernels = [(name, body) for kind, name, body in all_functions if kind == "entry"]
    problems = [] if len(kernels) >= least else [f"{len(kernels)} kernels, expected at least {least}"]
    for (_, body), name in zip(kernels, readable([name for name, _ in kernels])):
        if not re.search(r"\bst(?:\.\w+)*\.global\b", body):
            problems.append(f"{name}: stores nothing. A function that it calls lacks RILL_FN, or is constexpr and calls one that does")
        problems += [f"{name}: calls {callee}" for callee in sorted(set(CALL.findall(body))) if not OWN_FUNCTIONS.match(callee)]
        if re.search(r"^\s*\.local\b", body, re.M) and not MAY_HAVE_LOCAL_MEMORY.search(name):
            problems.append(f"{name}: has local memory")
    for kind, name, body in all_functions:
        if kind == "func" and not OWN_FUNCTIONS.match(name):
            problems.append(f"{readable([name])[0]}: is not inlined")
    return problems


def main():
    files = [Path(f) for f in sys.argv[1:]]
    problems = [f"{file}: {problem}" for file in files for problem in check(file.read_text())]
    print("\n".join(problems) or f"{len(files)} files of kernels are right")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
