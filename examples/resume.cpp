// SPDX-License-Identifier: BSD-3-Clause
// Training that survives a kill: a child process trains and saves every few steps, and is killed by SIGKILL at a random moment, again and again,
// until a run comes to the end. The weights are those of a run that nobody disturbed, bit for bit: the places of the dataset, its shuffle buffer and
// its prefetched batches are saved with them.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#if defined(__unix__)
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

namespace {

constexpr std::int64_t last = 60;

/// Trains on shuffled batches of a dataset, with dropout and Adam. Returns a checksum of the weights: all their bits.
std::uint64_t train(const std::string& directory, bool slowly) {
    const graph g;
    const graph_scope here(g);
    const auto step = get_or_create_global_step();
    xt::xtensor<float, 2> rows({100, 4});
    for (std::size_t i = 0; i < rows.size(); ++i) rows.flat(i) = std::sin(static_cast<float>(i * i));
    const auto data = dataset::from_tensor_slices(rows).as<tensor<float, 4>>().shuffle(50, 3).repeat();
    const auto x = data.batch<16>(drop_remainder).prefetch(2).make_one_shot_iterator().get_next();
    const variable<float, 4, 8> w("w", glorot_uniform(5));
    const auto loss = reduce_mean(square(matmul(dropout(x, 0.25f, {.seed = 7}), w) - 1.f));
    const auto train = adam(0.05f).minimize(loss, step);
    monitored_session m({.checkpoint_dir = directory,
                         .stop_at_step = last,
                         .save_steps = 5,
                         .session = {.inter_op_threads = 0, .intra_op_threads = 0}});
    if (slowly && m.global_step() > 0)
        std::printf("  goes on from step %lld\n", static_cast<long long>(m.global_step()));
    std::fflush(stdout);
    while (!m.should_stop()) {
        m.run(train);
#if defined(__unix__)
        if (slowly) usleep(8000);
#endif
    }
    std::uint64_t bits = 0;
    for (const float v : m.session().run(w)) {
        std::uint32_t one;
        static_assert(sizeof one == sizeof v);
        std::memcpy(&one, &v, sizeof one);
        bits = bits * 31 + one;
    }
    return bits;
}

} // namespace

int main(int argc, char** argv) {
#if defined(__unix__)
    const std::string base = argc > 1 ? argv[1] : "resume_run";
    std::filesystem::remove_all(base);
    std::srand(static_cast<unsigned>(std::chrono::steady_clock::now().time_since_epoch().count()));
    int kills = 0;
    for (;;) {
        const pid_t child = fork();
        expect(child >= 0, "a process for the child");
        if (child == 0) {
            train(base + "/killed", true);
            _exit(0);
        }
        if (kills < 3) {
            usleep(static_cast<useconds_t>(40000 + std::rand() % 100000));
            kill(child, SIGKILL);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (WIFEXITED(status)) {
            expect(WEXITSTATUS(status) == 0, "the child trains to the end");
            break;
        }
        expect(WTERMSIG(status) == SIGKILL, "only the kill ends the child before");
        ++kills;
    }
    expect(kills > 0, "the first step lasts longer than the time until a kill");
    const auto whole = train(base + "/whole", false);    // after the forks: threads that read ahead are not in a child
    const auto resumed = train(base + "/killed", false); // restores the last checkpoint: nothing is left to train
    std::printf("killed %d times; weights %016llx, undisturbed %016llx\n", kills,
                static_cast<unsigned long long>(resumed), static_cast<unsigned long long>(whole));
    expect(resumed == whole, "the same weights, bit for bit");
#else
    (void)argc, (void)argv;
#endif
}
