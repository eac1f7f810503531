// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What scatter_add, scatter_sub and scatter_update share. An op names itself by a struct: name;
// of(variable, ids, updates); join(old, given) of numbers.

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/session/session.hpp>

#include "ops/harness.hpp"

namespace scatter_test {

using namespace rill;

template <class Op, class T, class Id> void values(const std::vector<Id>& ids) {
    const graph g;
    const graph_scope here(g);
    variable<T, 4, 3> v("v", {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}});
    placeholder<Id, dyn> at("at");
    placeholder<T, dyn, 3> given("given");
    const auto written = Op::of(v, at, given);
    static_assert(std::is_same_v<std::remove_const_t<decltype(written)>, tensor<T, 4, 3>>);
    const session s(g);
    s.run(global_variables_initializer());
    std::vector<T> wanted = op_test::list(s.run(v));
    xt::xtensor<T, 2> updates({ids.size(), 3});
    for (std::size_t k = 0; k < ids.size(); ++k)
        for (std::size_t i = 0; i < 3; ++i) {
            updates(k, i) = static_cast<T>(static_cast<int>(k * 3 + i + 1));
            T& old = wanted[static_cast<std::size_t>(ids[k]) * 3 + i];
            old = static_cast<T>(Op::join(old, updates(k, i)));
        }
    CHECK(op_test::list(s.run(written, feed(at, ids), feed(given, updates))) == wanted);
    CHECK(op_test::list(s.run(v)) == wanted);
}

template <class Op> void all() {
    values<Op, float, int>({2, 0});
    values<Op, float, std::int64_t>({3, 3, 1});
    values<Op, double, int>({});
    values<Op, int, int>({1, 1, 1});
    values<Op, std::complex<double>, int>({2, 0});

    const graph g;
    const graph_scope here(g);
    variable<float, 3> v("v", {1.f, 2.f, 3.f});
    placeholder<int, dyn> at("at");
    const auto written = Op::of(v, at, constant({5.f, 5.f}));
    const session s(g);
    s.run(global_variables_initializer());
    CHECK_THROWS_WITH(s.run(written, feed(at, std::vector<int>{0, 3})),
                      contains(std::string(Op::name)) && contains("id 3 at [1] is outside [0, 3)"));
    CHECK(op_test::list(s.run(v)) == std::vector<float>{1, 2, 3}); // nothing was written
    CHECK_THROWS_WITH(s.run(written, feed(at, std::vector<int>{0})), contains("the updates must be of shape [1]"));
    CHECK_THROWS_WITH(Op::of(v, any_tensor(at), any_placeholder("x", dtype::float64)), contains("the dtypes differ"));
}

} // namespace scatter_test
