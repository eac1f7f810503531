# SPDX-License-Identifier: BSD-3-Clause
"""Compiles every test, example and file of rill::kernels with clang, as far as its errors and warnings: what g++ accepts and clang does
not shows here in minutes. The sanitizers, which compile the same files with clang, take hours. The flags are those of the build, without
g++'s own; text that is precompiled there is precompiled here.
RILL_PART takes a part of the files (compiling.py)."""
import json
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from compiling import arguments, take_part

CLANG_FLAGS = ["-Wno-unknown-warning-option", "-Wno-sign-conversion", "-Wno-invalid-feature-combination"]
TEST_FLAGS = ["-fno-relaxed-template-template-args", "-Wno-deprecated-no-relaxed-template-template-args"] # as in tests/CMakeLists.txt
LEFT_OUT = re.compile(r"/tests/(compile_fail|consumers|device/(far|thrust)|nvcc)/|thrust_\w+\.cpp$|/cmake_pch\.")


def read_commands(build):
    """Returns (file, folder, flags, precompiled text or None) of each unit of the build."""
    units = []
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if LEFT_OUT.search(entry["file"]):
            continue
        words = shlex.split(entry["command"])
        flags = [w for w in words[words.index(next(w for w in words if w.startswith("-"))):]
                 if not w.startswith(("-Wno-error=", "-Winvalid-pch", "-fpch")) and w not in ("-c", entry["file"])]
        at = flags.index("-o")
        del flags[at:at + 2]
        text = None
        if "-include" in flags:
            at = flags.index("-include")
            text = flags[at + 1]
            del flags[at:at + 2]
        flags += CLANG_FLAGS + TEST_FLAGS * ("/tests/" in entry["file"])
        units.append((entry["file"], entry["directory"], flags, text))
    return units


def run(compiler, folder, flags, *more):
    result = subprocess.run([compiler, *flags, *more], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                            check=False, env={**os.environ, "LC_ALL": "C"})
    return result.returncode == 0, result.stdout


def precompile(compiler, out, units):
    """Returns {(text, flags): the flags that bring the text}: as it is for a single unit, else precompiled."""
    made = {}
    for (text, *flags), count in Counter((text, *flags) for _, _, flags, text in units if text).items():
        # a copy, which lies apart from g++'s precompiled file of the same name
        copy = out / f"{len(made)}.hpp"
        copy.write_text(Path(text).read_text())
        bring = ["-include", str(copy)]
        if count > 1:
            bring = ["-include-pch", str(copy.with_suffix(".pch"))]
            good, said = run(compiler, out, flags, "-Wno-pragma-system-header-outside-header", "-x", "c++-header", "-fpch-instantiate-templates",
                             str(copy), "-o", bring[1])
            if not good:
                sys.exit(f"{text} can't be precompiled:\n{said[:3000]}")
        made[text, *flags] = bring
    return made


def main():
    options = arguments(__doc__).parse_args()
    units = take_part(read_commands(options.build))
    out = options.build / "clang"
    out.mkdir(parents=True, exist_ok=True)
    precompiled = precompile(options.compiler, out, units)
    broken = out / "broken.cpp"
    broken.write_text("template <class T> auto f(T t) { const auto a = t, b = &t; return a; }\nint main() { return f(0); }\n")
    if run(options.compiler, out, units[0][2], "-fsyntax-only", str(broken))[0]:
        sys.exit("clang accepts a template that it must refuse: this check can't fail")

    def compile_unit(unit):
        file, folder, flags, text = unit
        return run(options.compiler, folder, flags, *precompiled.get((text, *flags), []), "-fsyntax-only", file)

    bad = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for (file, *_), (good, said) in zip(units, pool.map(compile_unit, units)):
            if not good:
                bad += 1
                print(f"{file} does not compile:\n{said[:3000]}\n")
    print(f"{len(units) - bad} of {len(units)} units compile with {options.compiler}")
    sys.exit(bool(bad) or not units)


if __name__ == "__main__":
    main()
