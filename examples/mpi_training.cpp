// SPDX-License-Identifier: BSD-3-Clause
// Training by the processes of an MPI job, without servers: each has a model of its own and a part of the handwriting, and the means of the
// gradients cross by MPI.
//     mpirun -np 4 ./mpi_training
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <rill/rill.hpp>
#include <rill/train/all_reduce_gradients.hpp>

#include "expect.hpp"
#include "handwriting.hpp"

using namespace rill;
using namespace handwriting;

namespace {

constexpr int steps = 60;

/// Checks that sums come in order of rank: all ranks know the values of all.
void check_bits(const collective_group& all) {
    constexpr index_t count = 100'003; // long enough to be cut into pieces, and no multiple of the ranks
    const auto value_of = [](index_t rank, index_t i) {
        return 1.f / static_cast<float>((i % 89 + 3) * (rank + 2));
    };
    std::vector<float> own, wanted;
    for (index_t i = 0; i < count; ++i) {
        own.push_back(value_of(all.rank(), i));
        float sum = value_of(0, i);
        for (index_t r = 1; r < all.ranks(); ++r) sum += value_of(r, i);
        wanted.push_back(sum);
    }
    const placeholder<float, count> x("x");
    const auto sum = all_reduce(x, all);
    const auto first = broadcast_from(x, all, all.ranks() - 1);
    const session s;
    const auto [got, last] = s.run(std::tuple(sum, first), feed(x, own));
    bool is_equal = true;
    for (std::size_t i = 0; i < own.size(); ++i)
        is_equal = is_equal && got(i) == wanted[i] && last(i) == value_of(all.ranks() - 1, static_cast<index_t>(i));
    expect(is_equal, "sums have the bits of sums in order of rank");
}

/// Returns the accuracy.
float train(const collective_group& all) {
    const digits data;
    const digit_model m;
    const placeholder<float, dyn, 64> image("image");
    const placeholder<int, dyn> label("label");
    const auto loss = m.loss(image, label);
    const auto accuracy = reduce_mean(cast<float>(equal(argmax<1>(m.logits(image)), label)));
    const adam by(2e-3f);
    const auto update = by.apply_gradients(all_reduce_gradients(by.compute_gradients(loss), all));
    const auto checksums = all_gather(reduce_sum(abs(m.w1)) + reduce_sum(abs(m.w2)), all);
    const session s;
    s.run(global_variables_initializer()); // the same values for all: the graphs are equal, and so are their seeds
    for (int step = 0; step < steps; ++step) {
        const auto b = data.batch_of(static_cast<int>(all.rank()), step);
        s.run(update, feed(image, b.images), feed(label, b.labels));
    }
    const auto sums = s.run(checksums);
    for (std::size_t r = 1; r < static_cast<std::size_t>(all.ranks()); ++r)
        expect(sums(r) == sums(0), "all ranks have the same variables, to the last bit");
    const auto test = data.test();
    return s.run(accuracy, feed(image, test.images), feed(label, test.labels));
}

} // namespace

int main() {
    try {
        const collective_group all({.engine = "mpi"});
        check_bits(all);
        const float accuracy = train(all);
        if (all.rank() == 0)
            std::printf("accuracy %.3f after %d steps of %lld processes\n", static_cast<double>(accuracy), steps,
                        static_cast<long long>(all.ranks()));
        expect(accuracy >= 0.85f, "handwriting is read");
    } catch (const not_found& missing) { // the plug-in is compiled where mpicxx is found
        std::printf("SKIPPED: %s\n", missing.what());
    }
}
