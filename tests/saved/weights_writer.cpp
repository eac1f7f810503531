// SPDX-License-Identifier: BSD-3-Clause
// Writes values of variables as a C array, which weights_reader.cpp is compiled with: weights_writer FILE.
#include <cstdio>
#include <exception>
#include <fstream>

#include "weights_model.hpp"

int main(int argc, char** argv) try {
    if (argc != 2) return std::fprintf(stderr, "usage: weights_writer FILE\n"), 2;
    const saved_weights::model m;
    xt::xtensor<float, 2> values = xt::zeros<float>({3, 4});
    for (std::size_t i = 0; i < values.size(); ++i) values.flat(i) = static_cast<float>(i) - 0.25f;
    m.s.run({m.kernel.assign(values), m.scale.assign(1e-300), m.step.assign(std::int64_t(-7) << 40)});
    m.s.run(m.flags.assign(rill::constant({true, false, true})));
    m.s.run(m.words.assign(rill::constant({"one", "quote \" and\nline"})));
    std::ofstream out(argv[1], std::ios::binary);
    out << "#pragma once\n\n" << rill::to_cpp(m.s, "weights");
    out.close();
    return out ? 0 : 1;
} catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
}
