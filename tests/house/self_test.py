# SPDX-License-Identifier: BSD-3-Clause
"""Every check beside this file passes on a small tree that is right, and fails on trees that are wrong in one way."""
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from check_prose import PAGES
from check_standard import faults

HERE = Path(__file__).resolve().parent
TOP = ("#pragma once\n#include <rill/config.hpp>\nnamespace detail {\nstruct pair {\n    int first;\n};\n"
       "template <class Self, int How> struct extremum : pair {\n"
       "    static constexpr auto no_gradient = \"an index does not change\";\n};\n} // namespace detail\n"
       "template <int i> struct top_op : detail::extremum<top_op<i>, (i)> {\n    static constexpr auto name = \"Top\";\n};\n")
GOOD = {
    "include/rill/rill.hpp": "#include <rill/graph/node.hpp>\n",
    "include/rill/config.hpp": "#pragma once\n#define RILL_ABI v0\n",
    "include/rill/core/shape.hpp": "#pragma once\n#include <rill/config.hpp>\n",
    "include/rill/graph/node.hpp": "#pragma once\n#include <rill/core/shape.hpp>\n",
    "include/rill/device/cpu/map.hpp": "#pragma once\n#include <rill/core/shape.hpp>\n",
    "include/rill/device/devices.hpp": "#pragma once\n#include <rill/device/cpu/map.hpp>\n",
    "include/rill/passes/place.hpp": "#pragma once\n#include <rill/device/devices.hpp>\n",
    "include/rill/ops/math/add.hpp": "#pragma once\n#include <rill/config.hpp>\nstruct add_op {\n"
                                     "    static constexpr auto name = \"Add\"; // not \"Max\"\n    int pullback;\n};\n"
                                     "inline const char* label = \"Add\";\n",
    "include/rill/ops/math/top.hpp": TOP,
    "include/rill/ops/math/less.hpp": "#pragma once\n#include <rill/config.hpp>\nstruct less_op {\n    using result_type = bool;\n};\n",
    "tests/ops/math/add.cpp": 'TEST_CASE("add: gradient") {}\n',
    "tests/ops/math/less.cpp": 'TEST_CASE("less: values") {}\n',
    "tests/ops/math/top.cpp": 'TEST_CASE("top: values") {}\n',
    "tests/device/devices.cpp": 'TEST_CASE("devices") {}\n',
    "tests/passes/place.cpp": 'TEST_CASE("place") {}\n',
    "tests/core/shape.cpp": 'TEST_CASE("shape") {}\n',
    "tests/graph/node.cpp": 'TEST_CASE("node") {}\n',
    "tests/device/cpu/map.cpp": 'TEST_CASE("map") {}\n',
    **{page: "# A page\n\nShort sentences are fine.\n" for page in PAGES},
    "case.cpp": "// expect: the extents differ\n// shows: agree<2, 3>\ntemplate <int a, int b> inline constexpr bool agree = a == b;\n"
                "template <int a, int b> void f() { static_assert(agree<a, b>, \"f: the extents differ\"); }\n"
                "int main() {\n#ifdef RILL_POSITIVE_TWIN\nf<2, 2>();\n#else\nf<2, 3>();\n#endif\n}\n",
}
CASE = GOOD["case.cpp"]
WRONG = [  # script, what to change in the tree, a part of what must be said
    ("check_includes.py", {"include/rill/core/shape.hpp": "#include <rill/graph/node.hpp>\n"}, "shape.hpp:1"),
    *[("check_includes.py", {f"include/rill/{name}.hpp": "#include <rill/device/cpu/map.hpp>\n"}, "particular device")
      for name in ("expr/add", "ops/add", "passes/order", "runtime/step", "train/adam", "device/map")],
    ("check_includes.py", {"include/rill/device/devices.hpp": "#include <rill/passes/place.hpp>\n"}, "device/ may use only"),
    ("check_includes.py", {"include/rill/graph/node.hpp": "\n#include <rill/rill.hpp>\n"}, "node.hpp:2"),
    ("check_includes.py", {"include/rill/graph/node.hpp": "#include <rill/core/none.hpp>\n"}, "no such header"),
    ("check_includes.py", {"include/rill/graph/node.hpp": "#include <iostream>\n"}, "rill.hpp reaches this"),
    ("check_includes.py", {"include/rill/graph/node.hpp": '#include "rill/core/shape.hpp"\n'}, "one name"),
    ("check_includes.py", {"include/rill/odds/ends.hpp": "\n"}, "not in the table"),
    ("check_tests.py", {"include/rill/src.hpp": "#pragma once\n", "include/rill/graph/node.ipp": "\n",
                        "include/rill/graph/node.hpp": "#include <rill/core/shape.hpp>\n#include <rill/graph/node.ipp>\n"},
     "src.hpp leaves out graph/node.ipp"),
    ("check_tests.py", {"tests/graph/node.cpp": None}, "graph/node.hpp has no test"),
    ("check_tests.py", {"tests/graph/edge.cpp": 'TEST_CASE("edge") {}\n'}, "graph/edge.cpp has no header"),
    ("check_tests.py", {"tests/graph/node.cpp": "\n"}, "no TEST_CASE"),
    ("check_tests.py", {"tests/graph/node.cpp": 'TEST_CASE("node") { std::this_thread::sleep_for(1ms); }\n'}, "tests/graph/node sleeps"),
    ("check_tests.py", {"tests/graph/node.cpp": 'TEST_CASE("a; b") {}\n'}, "semicolon"),
    ("check_tests.py", {"include/rill/graph/edge.ipp": "\n"}, "has no header"),
    ("check_value_functions.py", {"include/rill/ops/math/less.hpp": "struct less_op {\n    template <class T> static T scalar(const T& x) "
                                  "{ return x; }\n};\n"}, "less.hpp:2: `scalar` lacks RILL_FN"),
    ("check_value_functions.py", {"include/rill/ops/math/less.hpp": "template <class X> RILL_FN auto less(const X& x) "
                                  "{ return apply<less_op>(x); }\n"}, "`less` applies an op: RILL_FRONT"),
    ("check_value_functions.py", {"include/rill/train/sgd.hpp": "struct sgd_rule {\n    std::array<double, 1> constants("
                                  "const std::array<double, 1>& n) const { return n; }\n};\n"}, "`constants` lacks RILL_FN"),
    ("check_value_functions.py", {"include/rill/ops/math/less.hpp": "D::rows(a.on, 1, 1, in, out, none, detail::soft_row{});\n"},
     "functors.cu does not compile soft_row"),
    ("check_value_functions.py", {"include/rill/ops/math/less.hpp": "struct less_op : detail::row_wise_op<detail::hard_row> {\n};\n"},
     "functors.cu does not compile hard_row"),
    ("check_value_functions.py", {"include/rill/ops/math/less.hpp": "D::check(a.on, a.in<I>(1), count(1, 2), detail::below<I>(n), *where);\n"},
     "functors.cu does not compile below"),
    ("check_value_functions.py", {"include/rill/ops/math/less.hpp": "D::check(a.on, ids, 1, some.value, *where);\n"},
     "functors.cu does not compile some.value"),
    ("check_gradients.py", {"tests/ops/math/add.cpp": 'TEST_CASE("add: values") {}\n'}, "add_op has neither"),
    ("check_gradients.py", {"include/rill/ops/math/less.hpp": "template <class T>\nstruct less_op {\n};\n"}, "less_op has neither"),
    ("check_gradients.py", {"include/rill/ops/math/less.hpp": 'struct less_op {\n    int no_gradient = "";\n};\n'}, "needs a reason"),
    ("check_gradients.py", {"include/rill/ops/math/top.hpp": TOP.replace("no_gradient", "whatever")}, "top_op has neither"),
    ("check_gradients.py", {"include/rill/ops/math/top.hpp": TOP.replace("an index does not change", "")}, "needs a reason"),
    ("check_gradients.py", {"include/rill/ops/math/top.hpp": TOP.replace("top_op : detail::extremum<top_op<i>, (i)>", "top_op : detail::pair")}, "top_op has neither"),
    ("check_gradients.py", {"include/rill/train/step.hpp": "template <class Rule> struct step_op {\n};\n"}, "step_op has neither"),
    ("check_op_names.py", {"include/rill/graph/node.ipp": 'const char* needs = "Add";\n'}, "node.ipp:1: \"Add\""),
    ("check_op_names.py", {"include/rill/ops/math/less.hpp": 'f(/*sum*/ "Add");\n'}, "rill/ops/math/add.hpp"),
    ("check_op_names.py", {"include/rill/train/add.hpp": 'struct b_op {\n    static constexpr auto name = "Add";\n};\n'}, "also an op's name"),
    ("check_op_names.py", {"include/rill/core/program.hpp": "\n"}, "no longer needed"),
    ("check_sizes.py", {"include/rill/core/shape.hpp": "// line\n" * 401}, "401 lines"),
    ("check_sizes.py", {f"include/rill/core/{i}.hpp": "// line\n" * 200 for i in range(20)}, "median"),
    ("check_sizes.py", {"docs/how_it_works.md": "line\n" * 251}, "how_it_works.md: 251 lines, over 250"),
    ("check_prose.py", {"docs/tour.md": "# Tour\n\n- Short.\n- One two.\n  " + "word " * 21 + "end.\n"}, "docs/tour.md:4: 22 words"),
    ("check_prose.py", {"docs/other.md": "# Other\n\nA page. What it says is a riddle.\n"}, "docs/other.md:3: begins with 'What'"),
    ("check_prose.py", {"include/rill/graph/node.hpp": "/// What a node is.\nint node();\n"}, "begins with 'What'"),
    ("check_headers.py", {"include/rill/core/shape.hpp": "#pragma once\n#include <rill/config.hpp>\ninline int f(std::size_t);\n"}, "alone"),
    ("check_headers.py", {"include/rill/core/shape.hpp": "#include <rill/config.hpp>\ninline int twice() { return 2; }\n"}, "alone"),
    ("check_headers.py", {"include/rill/core/shape.hpp": "#pragma once\n#include <rill/config.hpp>\ninline int f(double x) { return x; }\n"}, "alone"),
    ("check_headers.py", {"include/rill/core/shape.hpp": "#pragma once\n"}, "config.hpp is not included"),
    ("check_headers.py", {"include/rill/core/any_array.hpp": "#pragma once\n#include <rill/config.hpp>\n#include <vector>\n", # precompiled
                          "include/rill/core/shape.hpp": "#pragma once\n#include <rill/config.hpp>\ninline std::vector<int> f();\n"},
     "core/shape.hpp does not compile alone"),
    ("check_headers.py", {"include/rill/core/any_array.hpp": "#pragma once\n#include <rill/config.hpp>\n#include <vector>\n",
                          "include/rill/core/shape.hpp": "#pragma once\n#include <rill/core/any_array.hpp>\ninline int f(double x) { return x; }\n"},
     "core/shape.hpp does not compile alone"),
    ("compile_fail.py", {"case.cpp": CASE.replace("f<2, 2>", "g<2, 2>")}, "twin does not compile"),
    ("compile_fail.py", {"case.cpp": CASE.replace("f<2, 3>", "f<2, 2>")}, "the wrong form compiles"),
    ("compile_fail.py", {"case.cpp": CASE.replace("expect: the", "expect: both")}, "does not match"),
    ("compile_fail.py", {"case.cpp": CASE.replace("shows: agree<2", "shows: agree<4")}, "do not show"),
    ("compile_fail.py", {"case.cpp": CASE.replace("f<2, 3>();", "".join(f"f<2, {i}>();\n" for i in range(3, 60)))}, "cascades"),
    ("compile_fail.py", {"case.cpp": CASE.replace("#else", "")}, "the case needs"),
]


def run(script, changes, compiler):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, text in {**GOOD, **changes}.items():
            if text is not None:
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
        arguments = [folder]
        if script in ("check_headers.py", "compile_fail.py"):
            arguments = ["--compiler", compiler, "--root", folder, "--build", f"{folder}/build",
                         "--include", f"{folder}/include"]
        if script == "compile_fail.py":
            arguments += ["--case", f"{folder}/case.cpp"]
        result = subprocess.run([sys.executable, "-B", HERE / script, *arguments], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)
        return result.returncode, result.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    compiler = parser.parse_args().compiler
    bad = 0
    for script in dict.fromkeys(script for script, _, _ in WRONG):
        code, said = run(script, {}, compiler)
        if code != 0:
            bad += 1
            print(f"{script} refuses the tree that is right:\n{said}")
    first, end = "config.hpp:79:2: error: #error \"rill needs C++20: compile with -std=c++20\"", "fatal error: nothing more of rill is read without C++20"
    for said, wrong in (([first, end], False), ([end], True), ([first, end, "hello.cpp:2: error: x"], True), ([first] + ["note"] * 20, True)):
        if bool(faults(said)) != wrong:
            bad += 1
            print(f"check_standard.py takes {said} for {'right' if wrong else 'wrong'}")
    for script, changes, part in WRONG:
        code, said = run(script, changes, compiler)
        if code != 1 or part not in said or "Traceback" in said:
            bad += 1
            print(f"{script} should fail and say '{part}'; exit {code}:\n{said[:2000]}")
    print(f"{len(WRONG)} wrong trees, {bad} surprises")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
