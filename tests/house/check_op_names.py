# SPDX-License-Identifier: BSD-3-Clause
"""No op is named by text outside its own header: another header says add_op::name, and knows the op by including it."""
import re
import sys
from pathlib import Path

DECLARED_IN = ("ops", "train", "expr")
NAME = re.compile(r'static constexpr auto name = ("(?:[^"\\]|\\.)*")')
TEXT_OR_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*')
# (file, name) -> why it is no op there
ALLOWED = {
    ("core/program.hpp", "Max"): "a way of combining elements, as keys of kernels spell it",
    ("core/program.hpp", "Prod"): "likewise",
    ("runtime/trace/trace.ipp", "Send"): "a trace knows its flows by the names of their ends, and may not include ops",
    ("runtime/trace/trace.ipp", "SendBundle"): "likewise",
    ("runtime/trace/trace.ipp", "Recv"): "likewise",
    ("runtime/trace/trace.ipp", "RecvBundle"): "likewise",
    ("core/program.hpp", "Min"): "a way of combining elements, as keys of kernels spell it",
}


def texts(source):
    """Literals of a file with their line numbers; comments aside."""
    for match in TEXT_OR_COMMENT.finditer(source):
        if match[0][0] == '"':
            yield source.count("\n", 0, match.start()) + 1, match[0]


def check(root, allowed=ALLOWED):
    top = root / "include" / "rill"
    sources = {p.relative_to(top).as_posix(): p.read_text() for p in sorted(top.rglob("*.[hi]pp"))}
    owners = {}  # literal -> files
    for file, source in sources.items():
        if file.split("/")[0] in DECLARED_IN:
            code = "\n".join("" if line.lstrip().startswith("//") else line for line in source.splitlines())
            for name in NAME.findall(code):
                owners.setdefault(name, []).append(file)
    problems, used = [], set()
    for file, source in sources.items():
        for line, text in texts(source):
            if text not in owners or any(Path(file).with_suffix("") == Path(o).with_suffix("") for o in owners[text]):
                continue
            if (file, text.strip('"')) in allowed:
                used.add((file, text.strip('"')))
            else:
                problems.append(f"include/rill/{file}:{line}: {text} is the name of an op: include "
                                f"<rill/{owners[text][0]}> and use its struct's name")
    problems += [f"include/rill/{o[1]}: {name} is also an op's name in include/rill/{o[0]}"
                 for name, o in sorted(owners.items()) if len(o) > 1]
    problems += [f"{file}, {name}: the exception in {Path(__file__).name} is no longer needed"
                 for file, name in sorted(allowed.keys() - used) if file in sources]
    return problems


if __name__ == "__main__":
    found = check(Path(sys.argv[1]))
    print("\n".join(found) or "no op is named by text outside its header")
    sys.exit(bool(found))
