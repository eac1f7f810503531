// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/prefetched_parameters.hpp>

#include <rill/ops/array/gather.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_mean.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/ops/math/sub.hpp>
#include <rill/session/session.hpp>
#include <rill/train/adam.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_prefetched_parameters {

/// Parameters, a table that is used as it is, and a counter.
struct model {
    variable<float, 2> w{"w", {0.5f, -0.25f}};
    variable<float> b{"b", 0.f};
    variable<float, 5, 2> table{"table", 0.25f};
    variable<int> step{"step", 0, {.trainable = false}};
    placeholder<float, 2> x{"x"};
    placeholder<int, dyn> ids{"ids"};

    template <class W, class B> auto loss(const W& weights, const B& bias) const {
        return reduce_mean(square(weights * x + bias - 1.f)) + reduce_sum(square(gather(table, ids)));
    }
    std::vector<float> trained(const session& s, const operation& train) const {
        s.run(global_variables_initializer());
        s.run(local_variables_initializer());
        for (int i = 0; i < 6; ++i) {
            const auto k = static_cast<float>(i);
            s.run(train, feed(x, xt::xtensor<float, 1>{k * 0.5f - 1.f, 2.f - k}), feed(ids, std::vector<int>{i % 5, 1}));
        }
        CHECK(s.run(step) == 6);
        const auto [wv, bv, tv] = s.run(std::tuple(w, b, table));
        std::vector<float> all(wv.begin(), wv.end());
        all.push_back(bv);
        all.insert(all.end(), tv.begin(), tv.end());
        return all;
    }
};

std::vector<float> as_they_are() {
    const graph g;
    const graph_scope here(g);
    const model m;
    return m.trained(session(), adam(0.1f).minimize(m.loss(m.w, m.b), m.step));
}

TEST_CASE("prefetched_parameters: one worker trains as without copies, to the last bit") {
    const auto wanted = as_they_are();
    const graph g;
    const graph_scope here(g);
    const model m;
    prefetched_parameters near;
    const tensor<float, 2> w = near(m.w);
    CHECK(w.end() != m.w.end());
    CHECK(near(m.w).end() == w.end()); // once
    const auto train = near.minimize(adam(0.1f), m.loss(w, near(m.b)), m.step);
    const session s;
    CHECK(m.trained(s, train) == wanted);
    CHECK((s.run(w) == s.run(m.w))); // the copies are up to date
    CHECK(g.collection(collections::trainable_variables).size() == 3);
}

TEST_CASE("prefetched_parameters: what can't be is refused") {
    const graph g;
    const graph_scope here(g);
    const variable<float> w("w", 1.f);
    CHECK_THROWS_WITH(prefetched_parameters().minimize(adam(), square(w)), contains("no parameter has a copy"));
}

} // namespace test_prefetched_parameters
