// SPDX-License-Identifier: BSD-3-Clause
// steps NAME N: runs a model's step N times. What one step executes is the difference of two runs; see measure.py.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../models.hpp"

namespace {

template <class Make> int run(const Make& make, int times) {
    const auto step = make();
    for (int i = 0; i < times; ++i) step();
    return 0;
}

} // namespace

int main(int count, char** words) {
    const char* name = count > 1 ? words[1] : "";
    const int times = count > 2 ? std::atoi(words[2]) : 1;
    const auto is = [&](const char* other) { return std::strcmp(name, other) == 0; };
    if (is("null_callable")) return run(models::null_callable, times);
    if (is("null_run_by_handle")) return run(models::null_run_by_handle, times);
    if (is("linear_regression_sgd")) return run(models::linear_regression_sgd, times);
    if (is("train_4_10_10_3_batch_32")) return run(models::train_4_10_10_3_batch_32, times);
    if (is("gelu_of_1000")) return run(models::gelu_of_1000, times);
    if (is("cond_scalar")) return run(models::cond_scalar, times);
    if (is("while_scalar")) return run([] { return models::while_scalar(1'000); }, times);
    if (is("induction_variable")) return run([] { return models::induction_variable(100); }, times);
    if (is("scan_scalar")) return run([] { return models::scan_scalar(1'000); }, times);
    if (is("primitives_raised")) return run([] { return models::primitives(1'000, true); }, times);
    if (is("primitives_dataflow")) return run([] { return models::primitives(100, false); }, times);
    if (is("queue_pair")) return run(models::queue_pair, times);
    std::fprintf(stderr, "no such step: '%s'\n", name);
    return 2;
}
