# SPDX-License-Identifier: BSD-3-Clause
"""Compiles every public header alone, twice over, with the warnings of our own programs: with g++ as programs that link
rill::kernels see it, with clang header-only where a header brings definitions of its own."""
import os
import sys
from concurrent.futures import ThreadPoolExecutor

from compiling import WARNINGS, arguments, compile_file


def main():
    parser = arguments(__doc__)
    parser.add_argument("--launcher", nargs="*", default=[], help="ccache, for instance")
    options = parser.parse_args()
    headers = sorted(p.relative_to(options.root / "include") for p in (options.root / "include").rglob("*.hpp"))
    # device/cuda/ is for code compiled by nvcc
    headers = [h for h in headers if "cuda" not in h.parts and h.name != "gpu.hpp"]
    out = options.build / "headers" / os.path.basename(options.compiler)
    out.mkdir(parents=True, exist_ok=True)

    linked = "clang" not in os.path.basename(options.compiler)

    def alone(header):
        # an object, not a syntax check: ccache keeps objects only
        stem = str(header).replace(os.sep, "__").removesuffix(".hpp")
        source, object_file = out / f"{stem}.cpp", out / f"{stem}.o"
        text = f"#include <{header.as_posix()}>\n" * 2 + "#ifndef RILL_ABI\n#error config.hpp is not included\n#endif\n"
        if not source.exists() or source.read_text() != text:
            source.write_text(text)
        text = (options.root / "include" / header).read_text()
        defines = ".ipp>" in text or "RILL_DEFINE" in text or len(header.parts) == 2 # rill/rill.hpp has all
        # src.hpp is for programs whose files share one copy of the library, and says so otherwise
        mode = f"-DRILL_COMPILED={int(linked or not defines or header.name == 'src.hpp')}"
        return compile_file(options, source, *WARNINGS, mode, "-c", "-O0", "-o", str(object_file), launcher=options.launcher)

    bad = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for header, (good, said) in zip(headers, pool.map(alone, headers)):
            if not good:
                bad += 1
                print(f"{header} does not compile alone:\n{said[:3000]}\n")
    print(f"{len(headers) - bad} of {len(headers)} headers compile alone with {options.compiler}")
    sys.exit(1 if bad or not headers else 0)


if __name__ == "__main__":
    main()
