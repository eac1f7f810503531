# SPDX-License-Identifier: BSD-3-Clause
"""Makes the package with conan, with and without kernels, and with it the test package beside this file. Nothing of the user's
own conan is touched: its home is HOME. Where no remote answers, the dependencies are made of this machine's headers.

    python3 check.py CONAN SOURCE HOME [NVCC]

With nvcc, the package with rill::gpu instead, which has no libraries.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

SKIPPED = 77
conan, source, home, *nvcc = sys.argv[1:]
os.environ.update(CONAN_HOME=home, CCACHE_BASEDIR=home, CCACHE_NOHASHDIR="1")
if not Path(conan).exists():
    print("skipped: there is no conan; `make check` puts one into build/conan-venv where it can be downloaded")
    sys.exit(SKIPPED)


def run(*arguments, must=True):
    print("$ conan", *arguments, flush=True)
    done = subprocess.run([conan, *arguments], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if must and done.returncode:
        sys.exit(done.stdout[-6000:])
    return done


def system_packages():
    for name, folder in (("cereal", "cereal"), ("cppzmq", "zmq*"), ("xbyak", "xbyak")):
        if not next(Path("/usr/include").glob(folder), None):
            print(f"skipped: no remote answers, and /usr/include holds no {name}")
            sys.exit(SKIPPED)
        version = {"cereal": "1.3.2", "cppzmq": "4.9.0", "xbyak": "6.68"}[name]
        run("create", f"{source}/tests/consumers/conan/system.py", "--name", name, "--version", version, "-nr")
    for name in ("xtl", "xsimd", "xtensor"):
        config = next(Path("/usr/include").glob(f"{name}/**/{name}_config.hpp"), None)
        if not config:
            print(f"skipped: no remote answers, and /usr/include holds no {name}")
            sys.exit(SKIPPED)
        version = ".".join(re.findall(r"^#define \w+_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", config.read_text(), re.M))
        print(f"{name} {version} is made of this machine's headers")
        run("create", f"{source}/tests/consumers/conan/system.py", "--name", name, "--version", version, "-nr")


shutil.rmtree(home, ignore_errors=True)
run("profile", "detect")
online = "Unable to connect" not in (listed := run("list", "xtensor/*", "-r=*", must=False)).stdout and not listed.returncode
if not online:
    print("no remote of conan answers")
    system_packages()

variables = {"RILL_KERNEL_LEVELS": "", "RILL_KERNEL_RARE_TYPES": "OFF"}  # more of the same, and minutes of it
if ccache := shutil.which("ccache"):
    variables["CMAKE_CXX_COMPILER_LAUNCHER"] = ccache
if nvcc:
    variables |= {"CMAKE_CUDA_COMPILER": nvcc[0], "CMAKE_CUDA_ARCHITECTURES": "75"}
for options in ([{"with_kernels": False, "with_gpu": True}] if nvcc else
                [{"with_kernels": False}, {"with_kernels": True}, {"with_distributed": True}]):
    made = run("create", source, "--build=missing", *(["-nr"] * (not online)), "-s", "compiler.cppstd=20",
               *(word for name, value in options.items() for word in ("-o", f"&:{name}={value}")),
               "-c", f"tools.cmake.cmaketoolchain:extra_variables={variables}",
               "-c", f"tools.cmake.cmake_layout:test_folder={home}/test")
    if "Running test()" not in made.stdout:
        sys.exit("the test package was not run:\n" + made.stdout[-6000:])
print("made and consumed, " + ("with rill::gpu" if nvcc else "with kernels, without, and with clusters"))
