# SPDX-License-Identifier: BSD-3-Clause
"""Every op (a struct x_op under include/rill/ops, train or expr) is differentiated in its test, or says why it can't be: a
`no_gradient` with a reason (as its value, or as the comment behind it), or a result or operands that are bool. It may say so
itself or in a base, template or not."""
import re
import sys
from pathlib import Path

from check_tests import COVERED_BY

FOLDERS = ("ops", "train", "expr")
BASES = {"window_op"}  # what ops share
STRUCT = re.compile(r"^(?:template <[^;{]*?>\s*)?struct (\w+)(?:\s*:\s*([^{;]+?))?\s*{\n(.*?)^};", re.M | re.S)
ONE_LINE = re.compile(r"^(?:template <[^;{]*?>\s*)?struct (\w+_op)(?:\s*:\s*([^{;]+?))?\s*{(.*)};$", re.M)
REASON = re.compile(r'no_gradient = (?:"(.*?)"|(\w+::no_gradient));\s*(?://\s*(\S+))?')
BOOLEAN = re.compile(r"using (?:result_type = bool|domain_type = domains::boolean);")
GRADIENT_TEST = re.compile(r'TEST_CASE\w*\([^;{]*?"[^"]*gradient')


def base_names(bases):
    """"detail::extremum<max_op, combine::max>, other" -> extremum, other"""
    while "<" in bases:
        shorter = re.sub(r"<[^<>]*>", "", bases)
        if shorter == bases:
            break
        bases = shorter
    return [base.split("::")[-1].split()[-1] for base in bases.split(",") if base.strip()]


def check(root):
    include, tests = root / "include" / "rill", root / "tests"
    headers = {p: p.read_text() for folder in FOLDERS for p in sorted((include / folder).rglob("*.hpp"))}
    structs = {}  # name -> (base names, body)
    for source in headers.values():
        for pattern in (STRUCT, ONE_LINE):
            for name, bases, body in pattern.findall(source):
                structs.setdefault(name, (base_names(bases), body))

    def inherited(name, seen=()):
        """Its own body, then those of its bases."""
        if name not in structs or name in seen:
            return []
        bases, body = structs[name]
        return [body] + [b for base in bases for b in inherited(base, (*seen, name))]

    problems = []
    for header, source in headers.items():
        name = header.relative_to(include).with_suffix("").as_posix()
        test = tests / f"{COVERED_BY.get(name, name)}.cpp"
        tested = test.exists() and GRADIENT_TEST.search(test.read_text())
        names = [found[0] for pattern in (STRUCT, ONE_LINE) for found in pattern.findall(source)]
        for name in dict.fromkeys(n for n in names if n.endswith("_op") and n not in BASES):
            where = f"include/rill/{header.relative_to(include).as_posix()}: {name}"
            bodies = inherited(name)
            reason = next(filter(None, map(REASON.search, bodies)), None)
            if reason:
                if not any(reason.groups()):
                    problems.append(f"{where}: no_gradient needs a reason, as its value or in a comment behind it")
            elif not any(map(BOOLEAN.search, bodies)) and not tested:
                problems.append(f"{where} has neither a gradient test (a TEST_CASE with 'gradient' in its name in "
                                f"{test.relative_to(root).as_posix()}) nor a no_gradient")
    return problems


if __name__ == "__main__":
    found = check(Path(sys.argv[1]))
    print("\n".join(found) or "every op has a gradient test, or a reason to have none")
    sys.exit(bool(found))
