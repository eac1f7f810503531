# SPDX-License-Identifier: BSD-3-Clause
"""Every op under include/rill/ops/ is differentiated in its test, or says in its header why it can't be: a `no_gradient`
with a reason (as its value, or as the comment behind it), or a result or operands that are bool."""
import re
import sys
from pathlib import Path

OP = re.compile(r"^(?:template <.*>\s*)?struct (\w+_op)(?: : [\w:]+)? {\n(.*?)^};", re.M | re.S)
REASON = re.compile(r'no_gradient = "(.*?)";\s*(?://\s*(\S+))?')
BOOLEAN = re.compile(r"using (?:result_type = bool|domain_type = domains::boolean);")
GRADIENT_TEST = re.compile(r'TEST_CASE\(\s*"[^"]*gradient')


def check(root):
    ops, tests = root / "include" / "rill" / "ops", root / "tests" / "ops"
    problems = []
    for header in sorted(ops.rglob("*.hpp")):
        test = tests / header.relative_to(ops).with_suffix(".cpp")
        tested = test.exists() and GRADIENT_TEST.search(test.read_text())
        for name, body in OP.findall(header.read_text()):
            where = f"include/rill/ops/{header.relative_to(ops).as_posix()}: {name}"
            if reason := REASON.search(body):
                if not (reason[1] or reason[2]):
                    problems.append(f"{where}: no_gradient needs a reason, as its value or in a comment behind it")
            elif not BOOLEAN.search(body) and not tested:
                problems.append(f"{where} has neither a gradient test (a TEST_CASE with 'gradient' in its name in "
                                f"{test.relative_to(root).as_posix()}) nor a no_gradient")
    return problems


if __name__ == "__main__":
    found = check(Path(sys.argv[1]))
    print("\n".join(found) or "every op has a gradient test, or a reason to have none")
    sys.exit(bool(found))
