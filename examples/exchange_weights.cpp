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
    variable<bool, 3> flags{"flags", {false, false, false}, {.trainable = false}};
    variable<half, 2> small{"small", zeros()};
    session s{g};
};

/// Text, which of these formats only TensorFlow's has.
struct words_model {
    graph g;
    graph_scope here{g};
    variable<std::string, 2> words{"words", {"", ""}, {.trainable = false}};
    session s{g};
};

void write(const std::string& directory) {
    model m;
    xt::xtensor<float, 2> values = xt::zeros<float>({3, 4});
    for (std::size_t i = 0; i < values.size(); ++i) values.flat(i) = static_cast<float>(i);
    m.s.run({m.kernel.assign(values), m.scale.assign(0.5), m.step.assign(7)});
    m.s.run(m.flags.assign(constant({true, false, true})));
    m.s.run(m.small.assign(cast<half>(constant({0.25f, -2.f}))));
    save_npz(m.s, directory + "/w.npz");
    save_safetensors(m.s, directory + "/w.safetensors");
    save_tensor_bundle(m.s, directory + "/w.ckpt");
    words_model text;
    text.s.run(text.words.assign(constant({"one", "two words"})));
    save_tensor_bundle(text.s, directory + "/words.ckpt");
}

void read_words(const std::string& path) {
    words_model m;
    load_tensor_bundle(m.s, path);
    const auto words = m.s.run(m.words);
    expect(words(0) == "one" && words(1) == "two words", "the words that were written");
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
    const auto [flags, small] = m.s.run(std::tuple(m.flags, cast<float>(m.small)));
    expect(flags(0) && !flags(1) && flags(2) && small(0) == 0.25f && small(1) == -2.f, "bools and halves");
}

} // namespace

int main(int argc, char** argv) try {
    const std::string what = argc > 2 ? argv[1] : "", path = argc > 2 ? argv[2] : "exchange_weights_run";
    if (what == "read") {
        path.ends_with("words.ckpt") ? read_words(path) : read(path);
        return 0;
    }
    std::filesystem::create_directories(path);
    write(path);
    if (what.empty())
        for (const char* file : {"w.npz", "w.safetensors", "w.ckpt"}) read(path + "/" + file);
    if (what.empty()) read_words(path + "/words.ckpt");
} catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
}
