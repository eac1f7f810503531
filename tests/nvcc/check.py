# SPDX-License-Identifier: BSD-3-Clause
"""Compiles rill with nvcc for sm_75 and sm_90, and reads the PTX of the kernels. A call that crosses from a GPU to the host is an error.
Exits with 77, which ctest counts as skipped, where nvcc 13 is not found. No GPU is needed: the cases that run have a runtime of ours, and
convolutions a cuDNN of ours. They are skipped where cudnn.h is not found.

Each case has a bound of resident memory: 3 GB for programs that link rill::kernels, more for header-only ones. They run one at a time."""
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "house"))
from compiling import arguments, include_flags  # noqa: E402

import read_ptx  # noqa: E402

SKIPPED = 77
LEAST_VERSION = 13
MOST_MEMORY = 16 << 30  # of addresses: cicc takes up to 11.3 GB, and cudafe++ once took 17 GB over one wrong name
ARCHITECTURES = (75, 90)
REFUSED = "cross-execution-space-call"
HELLO = HERE.parents[1] / "examples" / "hello.cpp"
# case -> source, further flags, the least number of kernels (0: none is read), the most GB of memory that one process may use
CASES = {
    "hello": (HELLO, ["-DRILL_COMPILED=1"], 0, 3),
    "hello_header_only": (HELLO, [], 0, 4),
    "elementwise": (HERE / "elementwise.cu", ["-DRILL_COMPILED=1"], 300, 3),
    # header-only, as programs with <rill/gpu.hpp> are; kernels of Thrust's own are not read
    "gpu": (HERE / "gpu" / "programs.cu", ["-DRILL_MORE_DEVICES=<rill/gpu.hpp>"], 0, 5),
    "gpu_faults": (HERE / "gpu" / "faults.cu", ["-DRILL_MORE_DEVICES=<rill/gpu.hpp>"], 0, 5),
    # linked with a runtime of ours instead of NVIDIA's, and run. It reads the machine code, and compares arguments: their padding is zero
    "gpu_steps": (HERE / "fake" / "steps.cu",
                  ["-DRILL_MORE_DEVICES=<rill/gpu.hpp>", "--no-compress", "-Xcompiler=-ftrivial-auto-var-init=zero"], 0, 5),
    "functors": (HERE / "functors.cu", ["-DRILL_COMPILED=1"], 50, 3),
    # compiled for the host alone: see check_convolutions
    "gpu_convolutions": (HERE / "fake" / "convolutions.cpp", [], 0, 3),
}
# what programs find as libcudnn.so: folder -> the flags that compile it, or None for a file that no library is, and what convolutions then use
CUDNN_LIBRARIES = {
    "found": ([HERE / "fake" / "cudnn.cpp"], "library"),
    "other_version": (["-DFAKE_CUDNN_VERSION=80907", HERE / "fake" / "cudnn.cpp"], "fallback"),
    "no_functions": (["-x", "c++", "/dev/null"], "fallback"),
    "missing": (None, "fallback"),
}


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


def find_version(nvcc):
    """Returns the major version of nvcc, or 0 if there is none."""
    try:
        said = subprocess.run([nvcc, "--version"], stdout=subprocess.PIPE, text=True, check=False).stdout
    except OSError:
        return 0
    found = re.search(r"release (\d+)\.", said)
    return int(found[1]) if found else 0


def compile_cuda(options, source, folder, flags, architectures=ARCHITECTURES):
    """Returns (succeeded, what nvcc said). The PTX files lie in the folder then."""
    targets = [f"-gencode=arch=compute_{a},code=sm_{a}" for a in architectures]
    command = [options.compiler, "-x", "cu", "-std=c++20", "--expt-relaxed-constexpr", *targets, "--keep", "--keep-dir", str(folder),
               *include_flags(options), *flags, "-c", str(source), "-o", str(Path(folder) / "made.o")]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
                            cwd=folder, preexec_fn=limit_memory)
    return result.returncode == 0, result.stdout


def run_command(command, **how):
    """Returns (succeeded, what the command said)."""
    result = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                            check=False, **how)
    return result.returncode == 0, result.stdout


def host_command(options):
    """Returns the command that compiles files without kernels, with the toolkit's headers."""
    toolkit = Path(shutil.which(options.compiler)).resolve().parents[1] / "include"
    return [options.host_compiler, "-std=c++20", *include_flags(options), "-isystem", toolkit / "cccl", "-isystem", toolkit]


def with_libraries(folder):
    """Returns an environment in which programs load libraries of a folder first."""
    others = os.environ.get("LD_LIBRARY_PATH")
    return {**os.environ, "LD_LIBRARY_PATH": f"{folder}:{others}" if others else str(folder)}


def compile_cudnn(options, flags, library):
    """Compiles a shared library. Returns (succeeded, what the compiler said)."""
    return run_command([*host_command(options), "-shared", "-fPIC", *flags, "-o", library])


def run_with_fake_runtime(options, folder):
    """Links the object with tests/nvcc/fake/runtime.cpp and runs it. Returns problems."""
    program = Path(folder) / "program"
    compile_cudnn(options, [HERE / "fake" / "cudnn.cpp"], Path(folder) / "libcudnn.so.9")  # steps.cu does without if this fails
    for command in ([options.compiler, "-std=c++20", "-cudart", "none", str(HERE / "fake" / "runtime.cpp"), str(Path(folder) / "made.o"),
                     "-o", str(program)], [str(program)]):
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
                                cwd=folder, env=with_libraries(folder))
        if result.returncode != 0:
            return [f"{command[0]}: {result.stdout[-6000:]}"]
    print(result.stdout)
    return []


def check_convolutions(options, folder):
    """Convolutions by tests/nvcc/fake/cudnn.cpp, and by kernels of ours where it is missing or unfit."""
    folder = Path(folder)
    (folder / "probe.cpp").write_text("#include <cudnn.h>\nstatic_assert(CUDNN_MAJOR == 9);\n")
    compiler = host_command(options)
    if not run_command([*compiler, "-c", folder / "probe.cpp", "-o", folder / "probe.o"])[0]:
        print("cudnn.h of version 9 not found: skipped")
        sys.exit(SKIPPED)
    program = folder / "program"
    succeeded, said = run_command([*compiler, "-Wall", "-Wextra", "-Werror", CASES[options.case][0], HERE / "fake" / "runtime.cpp",
                                   "-o", program, "-ldl", "-lpthread"])
    problems = [] if succeeded else [said]
    for name, (flags, use) in CUDNN_LIBRARIES.items() if succeeded else ():
        library = folder / name / "libcudnn.so.9"
        library.parent.mkdir()
        if flags is None:
            library.write_text("no library")
        else:
            succeeded, said = compile_cudnn(options, flags, library)
            problems += [said] * (not succeeded)
        succeeded, said = run_command([program, use], env=with_libraries(library.parent))
        print(f"{name}: {said}", end="")
        problems += [f"{name}: convolutions by the {use} fail"] * (not succeeded)
    return problems


def check_case(options, folder):
    if options.case == "gpu_convolutions":
        return check_convolutions(options, folder)
    source, flags, least, _ = CASES[options.case]
    runs = options.case == "gpu_steps"
    succeeded, said = compile_cuda(options, source, folder, ["-Werror", REFUSED, *flags], ARCHITECTURES[:1] if runs else ARCHITECTURES)
    if not succeeded:
        return [said]
    problems = run_with_fake_runtime(options, folder) if runs else []
    if least:
        files = sorted(Path(folder).glob("*.ptx"))
        problems += [f"{len(files)} PTX files, expected {len(ARCHITECTURES)}"] * (len(files) != len(ARCHITECTURES))
        problems += [f"{file.name}: {p}" for file in files for p in read_ptx.check(file.read_text(), least)]
    return problems


def check_memory(peak, case):
    """Returns what to say if a process of a case used more memory (in KB) than the case may."""
    most = CASES[case][3]
    return [f"{case}: a process used {peak / (1 << 20):.1f} GB, at most {most} GB are allowed"] * (peak > most << 20)


def check_that_it_can_fail(options, folder):
    """An op whose `scalar` lacks RILL_FN is refused by nvcc, and its empty kernel by read_ptx; so is one of constexpr. Memory beyond a
    case's bound is told."""
    source, unmarked = HERE / "unmarked.cu", "-DRILL_TEST_UNMARKED"
    one = ARCHITECTURES[:1]
    succeeded, said = compile_cuda(options, source, folder, ["-Werror", REFUSED, unmarked], one)
    problems = ["nvcc accepts a `scalar` without RILL_FN"] if succeeded or "calling a __host__ function" not in said else []
    succeeded, said = compile_cuda(options, source, folder, [unmarked], one)
    if not succeeded:
        return [*problems, said]
    ptx, = Path(folder).glob("*.ptx")
    found = read_ptx.check(ptx.read_text())
    if check_memory(3 << 20, "hello") or not check_memory((3 << 20) + 1, "hello"):
        problems.append("the bound of memory is not where the case says")
    for op in ("unmarked_op", "silent_op"):
        if not any(op in problem and "stores nothing" in problem for problem in found):
            problems.append(f"read_ptx accepts the kernel of {op}")
    return problems


def main():
    parser = arguments(__doc__)
    parser.add_argument("--host-compiler", default="c++", help="for files without kernels")
    parser.add_argument("--case", required=True, choices=[*CASES, "can_fail"])
    options = parser.parse_args()
    if (version := find_version(options.compiler)) < LEAST_VERSION:
        print(f"nvcc {LEAST_VERSION} not found ({f'version {version}' if version else 'no nvcc'}): skipped")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        problems = (check_that_it_can_fail if options.case == "can_fail" else check_case)(options, folder)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss  # in KB, of the largest process
    if options.case in CASES:
        problems += check_memory(peak, options.case)
    print("\n".join(problems) or f"compiled, at most {peak >> 10} MB")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
