// SPDX-License-Identifier: BSD-3-Clause
// Weights in the formats of other programs: exchange_weights write DIR makes w.npz, w.safetensors and w.ckpt; exchange_weights read FILE takes those
// of others. Without arguments it does both.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

namespace {

struct model {
    graph g;
    graph_scope here{g};
    variable<float, 3, 4> kernel{"dense/kernel", zeros()};
    variable<double> scale{"scale", 0.};
    variable<std::int64_t> step{"step", 0, {.trainable = false}};
    session s{g};
};

void write(const std::string& directory) {
    model m;
    xt::xtensor<float, 2> values = xt::zeros<float>({3, 4});
    for (std::size_t i = 0; i < values.size(); ++i) values.flat(i) = static_cast<float>(i);
    m.s.run({m.kernel.assign(values), m.scale.assign(0.5), m.step.assign(7)});
    save_npz(m.s, directory + "/w.npz");
    save_safetensors(m.s, directory + "/w.safetensors");
    save_tensor_bundle(m.s, directory + "/w.ckpt");
}

void read(const std::string& path) {
    model m; // no initializer: the file has all values
    if (path.ends_with(".npz"))
        load_npz(m.s, path);
    else if (path.ends_with(".safetensors"))
        load_safetensors(m.s, path);
    else
        load_tensor_bundle(m.s, path);
    const auto [kernel, scale, step] = m.s.run(std::tuple(m.kernel, m.scale, m.step));
    std::printf("%s: %s\n", path.c_str(), parameter_table(m.g).c_str());
    expect(kernel(2, 3) == 11 && kernel(1, 0) == 4 && scale == 0.5 && step == 7, "the values that were written");
}

} // namespace

int main(int argc, char** argv) try {
    const std::string what = argc > 2 ? argv[1] : "", path = argc > 2 ? argv[2] : "exchange_weights_run";
    if (what == "read") {
        read(path);
        return 0;
    }
    std::filesystem::create_directories(path);
    write(path);
    if (what.empty())
        for (const char* file : {"w.npz", "w.safetensors", "w.ckpt"}) read(path + "/" + file);
} catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
}
