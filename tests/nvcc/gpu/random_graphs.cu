// SPDX-License-Identifier: BSD-3-Clause
// Random graphs of doubles with their gradients on the device beside the CPU. The argument is the number of small graphs.
#include "random_graphs.hpp"

#include "common.hpp"

int main(int count, char** arguments) {
    using namespace gpu_test;
    begin();
    const auto compare = [](int graphs, unsigned first, index_t scale) {
        int wrong = 0;
        for (int i = 0; i < graphs; ++i) {
            const unsigned seed = first + static_cast<unsigned>(i);
            const auto found = random_graphs_beside_cpu::difference(seed, device_type_name(), scale);
            if (!found.empty()) ++wrong, std::printf("%s\n", found.c_str());
        }
        expect(wrong == 0, std::to_string(graphs) + " random graphs, extents times " + std::to_string(scale) + ", " +
                               std::to_string(wrong) + " differ");
    };
    const int graphs = rounds(count, arguments, 1, 1000);
    compare(graphs, 20261122, 1), compare(graphs / 25, 12, 100);
    return end();
}
