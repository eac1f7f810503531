#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What one more use of a construct costs to compile: milliseconds of g++, without and with generating code at -O2.

    python3 bench/compile/constructs.py [--compiler g++] [--uses 100]

What the library's own lists, look-ups and algorithms (core/vector, hash_map, algorithm) are there for."""
import argparse
import os
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEAD = """
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>
#include <rill/core/algorithm.hpp>
#include <rill/core/hash_map.hpp>
struct base { int a; long b; };
"""
LIST = "struct S{i} {{ int a; long b; }}; inline long f{i}(int n) {{ {list}<S{i}> v; for (int k = 0; k < n; ++k) v.push_back({{k, k}}); long s = 0; for (auto& x : v) s += x.b; return s; }}"
MAP = "struct S{i} {{ int a; long b; }}; inline long f{i}(int n) {{ {map}<int, S{i}> m; m[n] = {{n, n}}; auto at = m.find(3); return at == m.end() ? 0 : at->second.b; }}"
BY_ALL = "inline long f{i}(std::vector<base>& v) {{ return {call}; }}"
CONSTRUCTS = {
    "std::vector of a new type": LIST.replace("{list}", "std::vector"),
    "rill's vector": LIST.replace("{list}", "rill::detail::vector"),
    "std::map": MAP.replace("{map}", "std::map"),
    "std::unordered_map": MAP.replace("{map}", "std::unordered_map"),
    "rill's hash_map": MAP.replace("{map}", "rill::detail::hash_map"),
    "std::sort": BY_ALL.replace("{call}", "(std::sort(v.begin(), v.end(), [](const base& a, const base& b) {{ return a.a + {i} < b.a; }}), 0)"),
    "std::ranges::sort": BY_ALL.replace("{call}", "(std::ranges::sort(v, {{}}, [](const base& b) {{ return b.a + {i}; }}), 0)"),
    "rill's sort": BY_ALL.replace("{call}", "(rill::detail::sort(v, [](const base& a, const base& b) {{ return a.a + {i} < b.a; }}), 0)"),
    "std::any_of": BY_ALL.replace("{call}", "std::any_of(v.begin(), v.end(), [](const base& b) {{ return b.a == {i}; }})"),
    "std::ranges::any_of": BY_ALL.replace("{call}", "std::ranges::any_of(v, [](const base& b) {{ return b.a == {i}; }})"),
    "rill's any_of": BY_ALL.replace("{call}", "rill::detail::any_of(v, [](const base& b) {{ return b.a == {i}; }})"),
    "std::span of a new type, from a vector": "struct S{i} {{ int a; long b; }}; inline std::size_t g{i}(std::span<const S{i}> s) {{ return s.size(); }} inline long f{i}(std::vector<S{i}>& v) {{ return static_cast<long>(g{i}(v)); }}",
    "std::optional": "struct S{i} {{ int a; std::string b; }}; inline std::optional<S{i}> f{i}(int n) {{ if (n) return std::nullopt; return S{i}{{n, \"x\"}}; }}",
    "std::unique_ptr": "struct S{i} {{ int a; std::string b; }}; inline std::unique_ptr<S{i}> f{i}(int n) {{ auto p = std::make_unique<S{i}>(); p->a = n; return p; }}",
    "std::shared_ptr": "struct S{i} {{ int a; std::string b; }}; inline std::shared_ptr<S{i}> f{i}(int n) {{ auto p = std::make_shared<S{i}>(); p->a = n; return p; }}",
    "std::function": "inline std::function<long(int)> f{i}(long n) {{ return [n](int k) {{ return n * {i} + k; }}; }}",
    "an error of six texts": "inline void f{i}(const std::string& a, const std::string& b, int n) {{ if (n) throw std::runtime_error(\"the \" + a + \" of '\" + b + \"' is \" + std::to_string(n) + \" and not {i}\"); }}",
}


def user_seconds(command):
    pid = os.posix_spawnp(command[0], command, os.environ)
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise SystemExit(f"failed: {' '.join(command)}")
    return usage.ru_utime


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--compiler", default="g++")
    options.add_argument("--uses", type=int, default=100)
    options = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "uses.cpp"

        def measure(text):
            source.write_text(HEAD + text)
            common = [options.compiler, "-std=c++20", f"-I{ROOT}/include", str(source)]
            return [min(user_seconds([*common, *mode]) for _ in range(3))
                    for mode in (["-fsyntax-only"], ["-O2", "-c", "-o", str(Path(folder) / "uses.o")])]

        nothing = measure("")
        print("| one more | read, ms | read and compiled, ms |\n|---|--:|--:|")
        for name, use in CONSTRUCTS.items():
            text = "\n".join(use.format(i=i) for i in range(options.uses))
            held = "\n".join(f"    held = reinterpret_cast<void*>(&f{i});" for i in range(options.uses))
            made = measure(f"{text}\nvoid* volatile held;\nvoid all() {{\n{held}\n}}\n")
            cells = [f"{1000 * (m - n) / options.uses:.1f}" for m, n in zip(made, nothing)]
            print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
