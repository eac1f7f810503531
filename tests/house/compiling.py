# SPDX-License-Identifier: BSD-3-Clause
"""Calls a compiler on one file, for the scripts beside this one."""
import argparse
import os
import subprocess
from pathlib import Path

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]


def arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--root", type=Path, required=True, help="the source tree")
    parser.add_argument("--build", type=Path, required=True, help="the build tree")
    parser.add_argument("--include", nargs="*", default=[], help="include folders, ours and foreign ones")
    return parser


def include_flags(options):
    """Ours by -I, so that warnings in them count; foreign ones by -isystem. The compiler's own place must not be named:
    that would change the order of its folders."""
    flags = []
    for folder in options.include:
        ours = any(Path(folder).is_relative_to(base) for base in (options.root, options.build))
        if folder != "/usr/include":
            flags += ["-I" if ours else "-isystem", folder]
    return flags


def take_part(items):
    """Returns the items of the part that RILL_PART in the environment names: "2of3" is every third from the second on. Without it, all."""
    first, count = map(int, os.environ.get("RILL_PART", "1of1").split("of"))
    return items[first - 1::count]


def compile_file(options, source, *flags, launcher=()):
    """Returns (succeeded, what the compiler said)."""
    strict = list(flags)
    if "clang" in Path(options.compiler).name:
        strict.append("-Wno-sign-conversion")  # part of -Wconversion for clang only
    command = [*launcher, options.compiler, "-std=c++20", "-fdiagnostics-color=never", *include_flags(options), *strict]
    result = subprocess.run([*command, str(source)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            errors="replace", env={**os.environ, "LC_ALL": "C"})
    return result.returncode == 0, result.stdout
