// SPDX-License-Identifier: BSD-3-Clause
// A traced step of training, as Chrome's JSON (open trace_step_run/step.json in ui.perfetto.dev), and as run metadata in TensorBoard.
#include <algorithm>
#include <cstdio>
#include <string>

#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

int main(int argc, char** argv) {
    const std::string directory = argc > 1 ? argv[1] : "trace_step_run";
    placeholder<float, dyn, 64> x("x");
    const auto hidden = relu(dense<64, 128>("hidden", x));
    const auto loss = reduce_mean(square(dense<128, 1>("out", hidden) - 1.f));
    const auto train = adam(1e-3f).minimize(loss);
    const session s;
    s.run(global_variables_initializer());
    const xt::xtensor<float, 2> batch = xt::ones<float>({32, 64});
    s.run(train, feed(x, batch)); // the first run compiles the plan
    const step_trace trace = s.run_traced(train, feed(x, batch));

    event_writer log(directory);
    log.add_graph(s.graph());
    log.add_run_metadata("training step", trace, 1, s.graph());
    trace.write_chrome(directory + "/step.json");
    write_dot(s.graph(), directory + "/graph.dot");

    auto entries = trace.entries;
    std::sort(entries.begin(), entries.end(),
              [](const auto& a, const auto& b) { return a.end - a.begin > b.end - b.begin; });
    for (std::size_t i = 0; i < std::min<std::size_t>(entries.size(), 5); ++i)
        std::printf("%8.1f us  %s (%s)\n", static_cast<double>(entries[i].end - entries[i].begin) / 1000,
                    entries[i].node.c_str(), entries[i].op.substr(0, 40).c_str());
    expect(entries.size() > 5, "the nodes of the step are in its trace");
    std::printf("%s", parameter_table(s.graph()).c_str());
}
