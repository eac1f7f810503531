# SPDX-License-Identifier: BSD-3-Clause
"""Follows the includes between headers, for the scripts beside this one."""
import re

HEADER_ONLY, LINKED = "RILL_COMPILED=0", "RILL_COMPILED=1"
INCLUDE = re.compile(r"^\s*#\s*include <(rill/[^>]+)>", re.M)


class includes:
    """Which headers each header includes, itself or through others."""

    def __init__(self, root):
        self.root, self.direct, self.users = root, {}, {}

    def named_by(self, name):
        """Returns the headers that a header names itself."""
        if name not in self.direct:
            file = self.root / name
            self.direct[name] = INCLUDE.findall(file.read_text()) if file.exists() else []
        return self.direct[name]

    def of(self, name, mode):
        """Returns the headers that a header brings, itself or through others."""
        seen, open_ends = set(), [name]
        while open_ends:
            new = {n for n in self.named_by(open_ends.pop()) if mode == HEADER_ONLY or not n.endswith(".ipp")} - seen
            seen |= new
            open_ends += new
        return seen

    def that_bring(self, names):
        """Returns {header: steps} for these headers (no step) and all that bring one of them, by the fewest includes between."""
        for file in [] if self.users else sorted(self.root.glob("rill/**/*.[hi]pp")):
            user = file.relative_to(self.root).as_posix()
            for name in self.named_by(user):
                self.users.setdefault(name, []).append(user)
        steps = dict.fromkeys(names, 0)
        for name in (queue := list(steps)):
            new = [user for user in self.users.get(name, []) if user not in steps]
            steps.update(dict.fromkeys(new, steps[name] + 1))
            queue += new
        return steps
