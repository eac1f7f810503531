// SPDX-License-Identifier: BSD-3-Clause
// Reads graphs that another program wrote, runs them, and compares: it names no op, and compiles none for itself.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "common.hpp"

namespace {

std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 3) return std::fprintf(stderr, "usage: reader FOLDER GRAPH...\n"), 2;
    int wrong = 0;
    for (int i = 2; i < argc; ++i) {
        const std::string path = std::string(argv[1]) + "/" + argv[i];
        std::vector<std::string> names;
        std::ifstream list(path + ".names");
        for (std::string name; list >> name;) names.push_back(name);
        const auto wanted = text_of(path + ".values");
        const auto file = text_of(path + ".rill");
        const rill::graph g = rill::import_graph(path + ".rill");
        // written again, it is the same graph
        const bool again = rill::graph_to_bytes(g) == file;
        const auto found = saved_graphs::run(g, names);
        const bool right = !wanted.empty() && saved_graphs::same(wanted, found);
        std::printf("%-8s %s%s%s\n", argv[i], right ? "the same values" : "OTHER VALUES",
                    wanted == found ? ", bit for bit" : "", again ? "" : ", WRITTEN IN ANOTHER WAY");
        if (!right) std::printf("wanted:\n%s\nfound:\n%s\n", wanted.c_str(), found.c_str());
        wrong += !right || !again;
    }
    return wrong;
}
