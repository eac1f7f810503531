// SPDX-License-Identifier: BSD-3-Clause
// Programs that are compiled at run time in place of kernels, on the device "thrust".
#include <rill/device/thrust/launch_sequence.hpp>

#include <atomic>
#include <mutex>
#include <vector>

#include "../../nvcc/gpu/random_graphs.hpp"

#include "../../catch.hpp"
#include "../../seeds.hpp"
#include "text_compiler.hpp"

using namespace rill;

namespace test_thrust_programs {

/// The compiler of programs for the device "thrust": it collects texts, and runs them once they are compiled.
struct collected {
    std::mutex mutex;
    text_compiler texts;
    std::vector<program_source> sources;
    std::size_t refused = 0;
    std::atomic<std::size_t> launches = 0;

    static collected*& current() {
        static collected* now = nullptr;
        return now;
    }
    static detail::program_kernel compile(const program& p, std::span<const leaf_form> leaves, int rank) {
        collected& all = *current();
        const std::lock_guard lock(all.mutex);
        auto source = program_source::of(p, leaves, rank);
        if (!source || divides_integers(p)) {
            ++all.refused;
            return {};
        }
        const auto run = all.texts.find(*source);
        if (!run) {
            all.texts.add(*source);
            all.sources.push_back(*source);
            return {};
        }
        return [run, source = *source, &all](const execution_context& on, const detail::elementwise_launch& args) {
            // steps of the device are captured, and replayed with the arguments of then
            host_backend<cpp_system>::run(on, [run, words = detail::program_arguments<host_addresses>(source, args),
                                               n = args.space.total, &all](const execution_context&) {
                run(words.data(), n);
                ++all.launches;
            });
        };
    }

    collected() {
        current() = this;
        detail::launchers_of("thrust").compile = &compile;
    }
    collected(const collected&) = delete;
    ~collected() { detail::launchers_of("thrust").compile = nullptr; }
};

TEST_CASE("programs as texts: random graphs give the same in compiled programs", "[random]") {
    collected all;
    std::vector<unsigned> drawn;
    seeds::each(12, [&](std::uint64_t seed) { drawn.push_back(static_cast<unsigned>(seed)); });
    for (const index_t scale : {1, 40})
        for (const unsigned seed : drawn) CHECK(random_graphs_beside_cpu::difference(seed, "thrust", scale) == "");
    REQUIRE(all.texts.size() > 5);
    CHECK(all.launches == 0);
    all.texts.compile();
    const auto collected_texts = all.texts.size();
    for (const index_t scale : {1, 40})
        for (const unsigned seed : drawn) CHECK(random_graphs_beside_cpu::difference(seed, "thrust", scale) == "");
    CHECK(all.texts.size() == collected_texts);
    CHECK(all.launches >= all.texts.size());
    check_nvrtc(all.sources);
}

} // namespace test_thrust_programs
