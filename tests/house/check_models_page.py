# SPDX-License-Identifier: BSD-3-Clause
"""docs/models.md shows code of examples/model_class.cpp, which is compiled and run as a test: every block is a part of it."""
import re
import sys
from pathlib import Path


def check(root):
    program = (root / "examples" / "model_class.cpp").read_text()
    blocks = re.findall(r"^```cpp\n(.*?)^```$", (root / "docs" / "models.md").read_text(), re.M | re.S)
    return ["docs/models.md shows no code"] * (not blocks) + [
        f"docs/models.md: '{block.splitlines()[0]}': examples/model_class.cpp has no such part"
        for block in blocks if block not in program]


if __name__ == "__main__":
    found = check(Path(sys.argv[1]))
    print("\n".join(found) or "the page shows what is compiled")
    sys.exit(bool(found))
