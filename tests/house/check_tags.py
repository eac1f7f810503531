# SPDX-License-Identifier: BSD-3-Clause
"""Tools that read tags find definitions that begin with a macro (RILL_COLD, RILL_FRONT): .ctags.d/rill.ctags names the macros."""
import shutil
import subprocess
import sys
from pathlib import Path

# a name -> the file that defines it
FOUND = {
    "prune": "passes/prune.ipp",
    "sort_items": "passes/order.ipp",
    "place": "passes/place.ipp",
    "bind_region": "runtime/control_flow/region_kernels.ipp",
    "split_into_stages": "passes/split_into_stages.ipp",
    "functionalize_control_flow": "passes/functionalize/functionalize_control_flow.ipp",
    "register_dynamic_runtime": "link/dynamic_runtime.ipp",
    "merge_region_variants": "passes/merge_region_variants.ipp",
    "find_parallel_regions": "runtime/segment/parallel_regions.ipp",
    "trace_body": "ops/control/region/body.hpp",
    "tanh": "ops/math/tanh.hpp",
}


def main():
    root = Path(sys.argv[1])
    if not shutil.which("ctags"):
        print("there is no ctags: skipped")
        sys.exit(77)
    files = sorted((root / "include").rglob("*.[hi]pp"))
    options = root / ".ctags.d" / "rill.ctags"
    tags = subprocess.run(["ctags", f"--options={options}", "-f", "-", "-L", "-"], input="\n".join(map(str, files)),
                          capture_output=True, text=True, check=True).stdout
    defined = {}
    for line in tags.splitlines():
        if not line.startswith("!"):
            name, file, *rest = line.split("\t")
            if "f" in rest[1:] or any(r.startswith("kind:f") for r in rest):
                defined.setdefault(name, set()).add(Path(file).relative_to(root / "include" / "rill").as_posix())
    problems = [f"ctags finds no definition of {name} in {file}: {sorted(defined.get(name, []))}" for name, file in FOUND.items()
                if file not in defined.get(name, [])]
    print("\n".join(problems) or f"ctags finds {len(FOUND)} functions")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
