# SPDX-License-Identifier: BSD-3-Clause
"""Compiles every public header alone, twice over, with the warnings of our own programs: with g++ as programs that link
rill::kernels see it, with clang header-only where a header brings definitions of its own. What most of them include is
precompiled (a third of the time), and given only to headers that include it anyway: nothing that is missing is hidden.
RILL_CHANGED in the environment names changed headers ("rill/core/error.hpp rill/graph/op/op.ipp"): only those and what includes them
are compiled. RILL_PART takes a part of them (compiling.py)."""
import os
import sys
from concurrent.futures import ThreadPoolExecutor

from compiling import WARNINGS, arguments, compile_file, take_part
from header_graph import HEADER_ONLY, LINKED, includes

PRECOMPILED = [f"rill/{name}.hpp" for name in ( # the largest first
    "runtime/control_flow/region_kernels", "expr/tensor", "graph/region", "core/host_array", "core/any_array")]


def precompile(options, folder, mode):
    """The headers that could be precompiled, each with the file to include before any other."""
    made = {}
    for name in PRECOMPILED:
        file = folder / "precompiled" / mode / name.replace("/", "__")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#include <{name}>\n")
        flags = [*WARNINGS, f"-D{mode}", "-O0", "-x", "c++-header"]
        if "clang" in os.path.basename(options.compiler):
            flags += ["-fpch-instantiate-templates", "-Xclang", "-fno-pch-timestamp"]
        good, said = compile_file(options, file, *flags, "-o", f"{file}.gch")
        if good:
            made[name] = file
        else: # found again below, where the header is compiled for itself
            print(f"{name} can't be precompiled:\n{said[:1000]}\n")
    return made


def main():
    os.environ["CCACHE_DEPEND"] = "1"
    parser = arguments(__doc__)
    parser.add_argument("--launcher", nargs="*", default=[], help="ccache, for instance")
    options = parser.parse_args()
    headers = sorted(p.relative_to(options.root / "include") for p in (options.root / "include").rglob("*.hpp"))
    # device/cuda/ is for code compiled by nvcc, and the two others for that of rill::gpu_kernels
    headers = [h for h in headers if "cuda" not in h.parts and h.name not in ("gpu.hpp", "gpu_kernels.hpp", "gpu_start.hpp")]
    out = options.build / "headers" / os.path.basename(options.compiler)
    out.mkdir(parents=True, exist_ok=True)

    linked = "clang" not in os.path.basename(options.compiler)
    included = includes(options.root / "include")
    precompiled = {mode: precompile(options, out, mode) for mode in ([LINKED] if linked else [HEADER_ONLY, LINKED])}

    def mode_of(header):
        text = (options.root / "include" / header).read_text()
        defines = ".ipp>" in text or "RILL_DEFINE" in text or len(header.parts) == 2 # rill/rill.hpp has all
        # src.hpp, which is to be included first, is for programs whose files share one copy of the library
        return LINKED if linked or not defines or header.name == "src.hpp" else HEADER_ONLY

    if changed := set(os.environ.get("RILL_CHANGED", "").split()):
        every, headers = len(headers), [h for h in headers if changed & {h.as_posix(), *included.of(h.as_posix(), mode_of(h))}]
        print(f"{len(headers)} of {every} headers are or include what changed")
    headers = take_part(headers)

    def alone(header):
        # an object, not a syntax check: ccache keeps objects only
        stem = str(header).replace(os.sep, "__").removesuffix(".hpp")
        source, object_file = out / f"{stem}.cpp", out / f"{stem}.o"
        text = f"#include <{header.as_posix()}>\n" * 2 + "#ifndef RILL_ABI\n#error config.hpp is not included\n#endif\n"
        if not source.exists() or source.read_text() != text:
            source.write_text(text)
        alone_only, mode = header.name == "src.hpp", mode_of(header)
        others = set() if alone_only else included.of(header.as_posix(), mode) - {header.as_posix()}
        first = next((file for name, file in precompiled[mode].items() if name in others), None)
        before = ["-include", str(first)] if first else []
        # ccache reads the includes from the list made beside the object: no preprocessing beforehand, half the time of most
        return compile_file(options, source, *before, *WARNINGS, f"-D{mode}", "-c", "-O0", "-MD", "-o", str(object_file),
                            launcher=options.launcher)

    bad = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for header, (good, said) in zip(headers, pool.map(alone, headers)):
            if not good:
                bad += 1
                print(f"{header} does not compile alone:\n{said[:3000]}\n")
    print(f"{len(headers) - bad} of {len(headers)} headers compile alone with {options.compiler}")
    sys.exit(1 if bad or not (headers or changed) else 0)


if __name__ == "__main__":
    main()
