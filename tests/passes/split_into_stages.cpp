// SPDX-License-Identifier: BSD-3-Clause
#include <rill/passes/split_into_stages.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/passes/prune.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_passes_split_into_stages {

inline detail::stages stages_of(const std::vector<endpoint>& fetches, const std::vector<endpoint>& feeds) {
    const auto g = prune(fetches, {}, feeds);
    CHECK(detail::needs_stages(g));
    return detail::split_into_stages(g);
}

TEST_CASE("split_into_stages: a run without dynamic nodes is one stage") {
    const graph_scope here{graph()};
    placeholder<float> x("x");
    const tensor y = x * 2.f;
    const std::vector<endpoint> fetches{y.end()}, feeds{x.end()};
    CHECK_FALSE(detail::needs_stages(prune(fetches, {}, feeds)));
    const auto loop = while_loop([](auto i) { return i < 3.f; }, [](auto i) { return i + 1.f; }, x);
    CHECK_FALSE(detail::needs_dynamic_execution(*loop.node()));
    const auto waits =
        while_loop([](auto i) { return i < 3.f; },
                   [](auto i) { return reduce_sum(cast<float>(where(expand_dims<0>(i) > 0.f))) + i + 1.f; }, x);
    CHECK(detail::needs_dynamic_execution(*waits.node()));
}

TEST_CASE("split_into_stages: what waits for the same is one stage, and each stage knows what it takes and gives") {
    const graph_scope here{graph()};
    placeholder<float, dyn> x("x"), y("y");
    const tensor a = x * 2.f, b = y * 3.f;
    const auto wa = where(a > 0.f), wb = where(b > 0.f);
    const tensor na = cast<float>(wa) + 1.f, nb = cast<float>(wb) + 2.f;
    const tensor sum = reduce_sum(na) + reduce_sum(nb), early = reduce_sum(a);
    const auto p = stages_of({sum.end(), early.end()}, {x.end(), y.end()});
    std::size_t alone = 0, lines = 0;
    for (const auto& stage : p.all) {
        (stage.alone.origin ? alone : lines)++;
        if (!stage.alone.origin) {
            check(stage.part, true);
            CHECK(stage.part.fetches.size() == stage.outputs.size());
            CHECK(stage.part.feeds.size() == stage.inputs.size());
        }
    }
    CHECK(alone == 2);
    CHECK(lines == 4); // before both, behind one, behind the other, behind both
    CHECK(p.fetches.size() == 2);
}

} // namespace test_passes_split_into_stages
