// SPDX-License-Identifier: BSD-3-Clause
// Two ops that nvcc compiles into empty kernels: the checks of this folder must refuse both.
#include <cmath>

#include "kernels.hpp"

namespace rill_test {

double of_the_host(double x);

/// Lacks RILL_FN: an error under -Werror cross-execution-space-call, else a warning.
struct unmarked_op {
    static constexpr auto name = "Unmarked";
    template <class T> static T scalar(const T& x) { return std::sqrt(x + T(1)); }
    template <class V> RILL_FN static auto pullback(const V& g) { return g; }
};

/// A constexpr function that calls one of the host: nvcc says nothing.
struct silent_op {
    static constexpr auto name = "Silent";
    template <class T> static constexpr T scalar(const T& x) { return static_cast<T>(of_the_host(x)); }
    template <class V> RILL_FN static auto pullback(const V& g) { return g; }
};

void compile_unmarked() {
#ifdef RILL_TEST_UNMARKED
    compile_op<unmarked_op, double>();
#endif
    compile_op<silent_op, double>();
}

} // namespace rill_test
