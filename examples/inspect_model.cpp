// SPDX-License-Identifier: BSD-3-Clause
// The contents of a model: inspect_model FILE shows the parameters and the ops of a graph that export_graph wrote, and writes FILE.dot for
// Graphviz. Without a file it trains a small model, freezes it, and shows both; then it runs the frozen one by names.
#include <cstdio>
#include <exception>
#include <map>
#include <string>

#include <rill/graph/serialization/serialization.hpp>
#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

namespace {

void show(const graph& g) {
    std::printf("%s", parameter_table(g).c_str());
    std::map<std::string, int> ops;
    for (const auto* n : g.nodes()) ++ops[std::string(n->op->kernel_name())];
    for (const auto& [name, count] : ops) std::printf("  %4d %s\n", count, name.c_str());
}

} // namespace

int main(int argc, char** argv) try {
    if (argc > 1) {
        const graph g = import_graph(argv[1]);
        show(g);
        write_dot(g, std::string(argv[1]) + ".dot");
        return 0;
    }
    placeholder<float, dyn, 4> x("x");
    const tensor<float, dyn, 1> y = dense<8, 1>("out", tanh(dense<4, 8>("hidden", x)));
    const auto loss = reduce_mean(square(y - 1.f));
    const auto train = adam(0.05f).minimize(loss);
    const session s;
    s.run(global_variables_initializer());
    const xt::xtensor<float, 2> batch = xt::ones<float>({2, 4});
    for (int i = 0; i < 100; ++i) s.run(train, feed(x, batch));
    show(s.graph());

    const graph frozen = freeze(s, {y});
    std::printf("frozen:\n");
    show(frozen);
    expect(parameters_of(frozen).empty(), "a frozen graph has no variables");
    const session f(frozen);
    const any_array out = f.run(fetch(y.name()), feed("x:0", batch));
    expect(out.elements<float>()[0] == s.run(y, feed(x, batch))(0, 0), "the frozen model gives the same bits");
    std::printf("y = %g\n", static_cast<double>(out.elements<float>()[0]));
} catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
}
