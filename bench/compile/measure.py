#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What compiling costs: user seconds and peak memory of the compiler, medians of a few runs.

    python3 bench/compile/measure.py [--compiler g++] [--runs 3]

Two columns: header-only, and as programs that link rill::kernels compile."""
import argparse
import os
import statistics
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

CLASSIFIER = """
#include <rill/rill.hpp>
using namespace rill;
int main() {
    placeholder<float, dyn, 4> x("x");
    placeholder<int, dyn> label("label");
    auto h1 = relu(dense<4, 10>("h1", x));
    auto h2 = relu(dense<10, 10>("h2", h1));
    auto loss = reduce_mean(sparse_softmax_cross_entropy(dense<10, 3>("out", h2), label));
    auto train = gradient_descent(0.01f).minimize(loss);
    session s;
    s.run(global_variables_initializer());
    s.run(train, feed(x, xt::xtensor<float, 2>({32, 4}, 1.f)), feed(label, std::vector<int>(32, 1)));
}
"""


def sealed(count):
    """A program with so many different sealed expressions, each of which can be differentiated."""
    lines = [f"    tensor y{i} = tanh(x * {i + 1}.f) {'+-'[i % 2]} exp(-x){' * x' * (i % 5)};" for i in range(count)]
    return ("#include <rill/rill.hpp>\nusing namespace rill;\nint main() {\n    placeholder<float, dyn> x(\"x\");\n"
            + "\n".join(lines) + "\n    session s;\n    return static_cast<int>(s.run(x, feed(x, std::vector<float>{0.f}))(0));\n}\n")


def compile_once(command):
    pid = os.posix_spawnp(command[0], command, os.environ)
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise SystemExit(f"failed: {' '.join(command)}")
    return usage.ru_utime, usage.ru_maxrss / 1024


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--compiler", default="g++")
    options.add_argument("--runs", type=int, default=3)
    options = options.parse_args()
    example = lambda name: (ROOT / "examples" / f"{name}.cpp").read_text()
    programs = {
        "standard headers": "#include <vector>\n#include <string>\n#include <functional>\n#include <memory>\n#include <mutex>\n#include <map>\n",
        "#include <rill/rill.hpp>": "#include <rill/rill.hpp>\n",
        "hello": example("hello"),
        "digits": example("digits"),
        "4-10-10-3, trained": CLASSIFIER,
        "5 sealed expressions": sealed(5),
        "10 sealed expressions": sealed(10),
    }
    print(f"| program ({options.compiler} -O2) | user s | MB | with rill::kernels: user s | MB |\n|---|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in programs.items():
            source = Path(folder) / "program.cpp"
            source.write_text(text)
            cells = []
            for compiled in (0, 1):
                command = [options.compiler, "-std=c++20", "-O2", f"-DRILL_COMPILED={compiled}", f"-I{ROOT}/include",
                           f"-I{ROOT}/examples", "-c", str(source), "-o", str(Path(folder) / "program.o")]
                runs = [compile_once(command) for _ in range(options.runs)]
                cells += [f"{statistics.median(r[0] for r in runs):.1f}", f"{statistics.median(r[1] for r in runs):.0f}"]
            print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
