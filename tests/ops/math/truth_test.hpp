// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What reduce_all and reduce_any share. An op names itself by a struct as for ops/reduction.hpp, over `x > 0`, and says
// `of_bools(tensor)`, its name, and what it makes of nothing.

#include <rill/ops/math/greater.hpp>

#include "ops/reduction.hpp"

namespace truth_test {

using namespace rill;

template <class Op> void values() {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<int, dyn, dyn> x("x");
    const std::vector<std::vector<int>> tables{
        {1, 1, 1, 1, 1, 1}, {0, 0, 0, 0, 0, 0}, {1, 0, 1, 1, 1, 1}, {0, 0, 0, 1, 0, 0}};
    for (const auto& numbers : tables) {
        xt::xarray<int> table(std::vector<std::size_t>{2, 3});
        std::copy(numbers.begin(), numbers.end(), table.begin());
        const xt::xtensor<int, 2> at = table;
        const auto rows = op_test::reduced<Op>(table, {1}, false), columns = op_test::reduced<Op>(table, {0}, false),
                   whole = op_test::reduced<Op>(table, {}, false);
        CHECK(op_test::list(s.run(Op::template run<1>(x), feed(x, at))) == std::vector<bool>(rows.begin(), rows.end()));
        CHECK(op_test::list(s.run(Op::template run<-2>(x), feed(x, at))) ==
              std::vector<bool>(columns.begin(), columns.end()));
        CHECK(s.run(Op::template run<>(x), feed(x, at)) == (whole() != 0));
    }
    CHECK(s.run(Op::template run<>(x), feed(x, xt::xtensor<int, 2>({0, 3}))) == Op::of_nothing);
    const xt::xtensor<int, 2> many({1000, 37}, Op::of_nothing); // over several blocks: one element decides
    auto one = many;
    one(700, 3) = !Op::of_nothing;
    CHECK(s.run(Op::template run<>(x), feed(x, many)) != s.run(Op::template run<>(x), feed(x, one)));
}

template <class Op> void only_of_bool() {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    CHECK_THROWS_WITH(Op::of_bools(any_tensor(tensor(constant({1, 2})))),
                      contains(std::string(Op::name) + ": the elements of") && contains("int32"));
    CHECK_FALSE(s.run(Op::of_bools(any_tensor(tensor(constant({false, false}))))).template elements<bool>()[0]);
}

} // namespace truth_test
