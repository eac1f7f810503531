# SPDX-License-Identifier: BSD-3-Clause
"""What a script can see of prose: docstrings of functions begin with a verb, no sentence has more than 20 words, none begins with
"What", "Of", "Whether" or a pronoun. One comment in fifty may be an exception. On pages there is no exception, but only some keep to the
number of words.

    check_prose.py ROOT [FILE...]    lists what it finds in these files, without the allowance"""
import re
import sys
from pathlib import Path

FOLDERS = ("runtime", "passes", "graph", "device", "expr", "resources", "link", "session", "eager", "ops/control", "ops/queue",
           "ops/stack", "ops/barrier", "ops/accumulator", "ops/sync", "ops/collective")
PAGES = ("README.md", *(f"docs/{page}.md" for page in ("how_it_works", "contracts", "tour", "benchmarks", "adding_an_op")))
MOST_WORDS, ALLOWED = 20, 0.02
BAD_START = re.compile(r"^(What|Of|Whether|Who|Those|That which|Which|Null where|Where)\b")
FUNCTION = re.compile(r"^(?!.*\b(class|struct|enum|concept|using|namespace|typedef)\b)[^=;{]*\w\s*\(")
VERB = re.compile(r"^[A-Z][a-z]+(s|sh)$")
NOT_VERBS = {"Its", "This", "As", "Always", "Ops", "Nodes", "Values", "Gradients", "Types", "Others", "Tensors", "Shapes",
             "Elements", "Inputs", "Outputs", "Bodies", "Variables", "Regions", "Edges", "Steps"}


def blocks(text):
    """(line number, is a docstring, comment text, the code line that follows)"""
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        match = re.match(r"^\s*(///?)(?!/)\s?(.*)$", lines[at])
        if not match:
            trailing = re.search(r"[;,{})]\s+//\s(.*)$", lines[at])
            if trailing:
                yield at + 1, False, trailing[1], ""
            at += 1
            continue
        start, mark, said = at, match[1], []
        while at < len(lines) and (match := re.match(r"^\s*(///?)(?!/)\s?(.*)$", lines[at])) and match[1] == mark:
            said.append(match[2].strip())
            at += 1
        code = " ".join(lines[at:at + 4])
        code = re.sub(r"^\s*(template <.*?>\s*(requires\(.*?\)+\s*)?|RILL_\w+\s+|\[\[\w+\]\]\s*)+", "", code).strip()
        yield start + 1, mark == "///", " ".join(said), code


def sentences(said):
    said = re.sub(r"`[^`]*`|\"[^\"]*\"", "code", said)
    said = re.sub(r"\((?:[^()]|\([^()]*\))*\)", "", said)
    return [s for s in re.split(r"(?<=[.;:!?])\s+", said) if s]


def sentence_faults(said, most_words=MOST_WORDS):
    """Returns what is wrong with the sentences of a comment or a paragraph"""
    found = []
    for s in sentences(said):
        is_label = s.endswith(("?", ":"))
        is_condition = s.startswith("Where ") and "," in s
        if (match := BAD_START.match(s)) and not is_label and not is_condition:
            found.append(f"begins with '{match[1]}': {s[:60]}")
        if len(s.split()) > most_words:
            found.append(f"{len(s.split())} words: {s[:60]}")
    return found


def faults(file):
    """[(line, fault)], and how many comments there are"""
    found, count = [], 0
    for line, doc, said, code in blocks(file.read_text()):
        if not said or said.startswith(("SPDX", "----", "clang-format", "size:", "namespace ")) or re.match(r"^-+ ", said):
            continue
        count += 1
        if doc and FUNCTION.match(code):
            first = said.split()[0].strip(",.:;")
            if not VERB.match(first) or first in NOT_VERBS:
                found.append((line, f"a function's docstring begins with no verb: {said[:60]}"))
        found += [(line, fault) for fault in sentence_faults(said)]
    return found, count


def paragraphs(text):
    """(line number, text) of the paragraphs and list items of a page: tables, code, headings and the targets of links aside"""
    start, said, in_code = 0, [], False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        fence = line.lstrip().startswith("```")
        aside = in_code or fence or re.match(r"\s*(\||#|<|!\[|$)", line)
        if aside or re.match(r"\s*([-*]|\d+\.)\s", line):
            if said:
                yield start, " ".join(said)
            start, said = 0, []
        in_code = in_code != fence
        if not aside:
            start = start or number
            line = re.sub(r"^\s*([-*]|\d+\.)\s+", "", line).strip().replace("**", "")
            said.append(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line))


def page_faults(file, most_words=MOST_WORDS):
    """[(line, fault)] of a page"""
    return [(line, fault) for line, said in paragraphs(file.read_text()) for fault in sentence_faults(said, most_words)]


def check(root):
    total, problems = 0, []
    for folder in FOLDERS:
        for file in sorted((root / "include" / "rill" / folder).rglob("*.[hi]pp")):
            found, count = faults(file)
            total += count
            problems += [f"{file.relative_to(root)}:{line}: {fault}" for line, fault in found]
    return problems, total


def main():
    if len(sys.argv) > 2:
        for name in sys.argv[2:]:
            for line, fault in page_faults(Path(name)) if name.endswith(".md") else faults(Path(name))[0]:
                print(f"{name}:{line}: {fault}")
        return
    root = Path(sys.argv[1])
    pages = {name: MOST_WORDS for name in PAGES}
    for file in [*root.glob("CONTRIBUTING.md"), *sorted((root / "docs").glob("*.md"))]:
        pages.setdefault(file.relative_to(root).as_posix(), 1000)
    on_pages = [f"{page}:{line}: {fault}" for page, most in pages.items() for line, fault in page_faults(root / page, most)]
    problems, total = check(root)
    most = int(total * ALLOWED)
    if len(problems) > most:
        print("\n".join(problems))
    print("\n".join([*on_pages, f"{len(problems)} exceptions in {total} comments, at most {most}"]))
    sys.exit(bool(on_pages) or len(problems) > most)


if __name__ == "__main__":
    main()
