# SPDX-License-Identifier: BSD-3-Clause
"""Functions that a GPU runs are marked: those of an op's struct (scalar, value, pullback, registers) and of an optimizer's rule (step,
constants) by RILL_FN or RILL_HOST_DEVICE. nvcc compiles a kernel that calls an unmarked one into nothing, with a warning. Functions that
users call with tensors too, as tanh(x), are RILL_FRONT. Every functor of rows and of checks is compiled by tests/nvcc."""
import re
import sys
from pathlib import Path

MARKED = re.compile(r"\bRILL_(?:FN|HOST_DEVICE)\b")
# folder -> the functions that it declares for a GPU
FUNCTIONS = {"ops": "scalar|value|pullback|registers", "train": "step|constants", "device/elementary.hpp": "scalar|registers"}
FRONT = re.compile(r"\bRILL_FN\s+(?:constexpr\s+)?auto\s+(\w+)\([^{};]*\{[^}]*\breturn apply<")
ROWS = re.compile(r"\b(?:D::rows\([^;]*?|row_wise_op<(?:detail::)?)\b(\w+_row)\b", re.S)
# variables that calls of D::check give as their functor -> its type
CHECKED = {"by.inside": "index_inside", "limit": "below_limit"}


def arguments(text, at):
    """Returns the arguments of the call whose parenthesis opens at a place."""
    all_of, depth, begin = [], 0, at + 1
    for end in range(at, len(text)):
        depth += (text[end] in "([{") - (text[end] in ")]}")
        if depth == 0 or (depth == 1 and text[end] == ","):
            all_of.append(text[begin:end].strip())
            begin = end + 1
        if depth == 0:
            break
    return all_of


def checked_functors(text):
    """Returns the types of the functors that calls of D::check give."""
    given = [arguments(text, match.end() - 1)[3] for match in re.finditer(r"\bD::check\(", text)]
    return {CHECKED.get(functor) or re.match(r"(?:\w+::)*([\w.]+)", functor)[1] for functor in given}


def declarations(text, names):
    """Yields (line number, name, the declaration up to the name) of static functions, and of `constants`."""
    for match in re.finditer(rf"\b({names})\(", text):
        begin = max(text.rfind(c, 0, match.start()) for c in ";{}") + 1
        before = re.sub(r"//[^\n]*", "", text[begin:match.start()])
        if re.search(r"\bstatic\b", before) or (match[1] == "constants" and re.search(r"\bstd::array<", before) and "=" not in before):
            yield text.count("\n", 0, match.start()) + 1, match[1], before


def check(root):
    include, problems, functors = root / "include" / "rill", [], set()
    for place, names in FUNCTIONS.items():
        top = include / place
        for file in [top] if top.is_file() else sorted(top.rglob("*.hpp")):
            text, name = file.read_text(), file.relative_to(root)
            problems += [f"{name}:{line}: `{function}` lacks RILL_FN" for line, function, before in declarations(text, names)
                         if not MARKED.search(before)]
            problems += [f"{name}: `{front}` applies an op: RILL_FRONT in place of RILL_FN" for front in FRONT.findall(text)]
            functors |= set(ROWS.findall(text))
            functors |= checked_functors(text)
    compiled = root / "tests" / "nvcc" / "functors.cu"
    text = compiled.read_text() if compiled.exists() else ""
    problems += [f"tests/nvcc/functors.cu does not compile {functor}" for functor in sorted(functors)
                 if not re.search(rf"\b{functor}\b", text)]
    return problems


if __name__ == "__main__":
    found = check(Path(sys.argv[1]))
    print("\n".join(found) or "every function of a GPU is marked")
    sys.exit(bool(found))
