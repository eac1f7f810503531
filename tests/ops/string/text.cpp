// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/string/text.hpp>

#include <rill/ops/array/broadcast_to.hpp>
#include <rill/ops/array/concat.hpp>
#include <rill/ops/array/expand_dims.hpp>
#include <rill/ops/array/fill.hpp>
#include <rill/ops/array/gather.hpp>
#include <rill/ops/array/identity.hpp>
#include <rill/ops/array/rank.hpp>
#include <rill/ops/array/reshape.hpp>
#include <rill/ops/array/reverse.hpp>
#include <rill/ops/array/shape.hpp>
#include <rill/ops/array/size.hpp>
#include <rill/ops/array/slice.hpp>
#include <rill/ops/array/split.hpp>
#include <rill/ops/array/split_v.hpp>
#include <rill/ops/array/squeeze.hpp>
#include <rill/ops/array/stack.hpp>
#include <rill/ops/array/strided_slice.hpp>
#include <rill/ops/array/tile.hpp>
#include <rill/ops/array/transpose.hpp>
#include <rill/ops/array/unstack.hpp>
#include <rill/ops/random/random_shuffle.hpp>
#include <rill/ops/state/variable.hpp>

#include "ops/string/text_test.hpp"

using namespace rill;

namespace test_ops_string_text {

using text_test::texts;

TEST_CASE("text: where the elements of what stretches are") {
    const detail::stretched_places same({2, 3}, {2, 3}), column({2, 1}, {2, 3}), row({3}, {2, 3}), one({}, {2, 3});
    for (index_t i = 0; i < 6; ++i) {
        CHECK(same(i) == i);
        CHECK(column(i) == i / 3);
        CHECK(row(i) == i % 3);
        CHECK(one(i) == 0);
    }
    const std::vector<tensor_type> in{{dtype::string, {2, 1}}, {dtype::string, {3}}};
    CHECK(detail::stretched_shape(in) == dims{2, 3});
    CHECK_THROWS_AS(detail::check_text({dtype::float32, {}}, "it"), invalid_argument);
}

/// What moves elements moves text, of known types and of unknown ones.
template <class X, class F> texts moved(const session& s, const X& x, const any_array& at, const F& f) {
    return text_test::list(op_test::run(s, sealed(f(x)), {x}, {at}));
}

TEST_CASE("text: ops that move elements") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<std::string, 2, 2> typed("typed");
    const any_tensor any = any_placeholder("any", dtype::string);
    const any_array at = text_test::array({2, 2}, {"a", "bb", "ccc", "a text that is too long to be kept in place"});
    const texts all = text_test::list(at);
    const auto check = [&](const texts& wanted, const auto& f) {
        CHECK(moved(s, typed, at, f) == wanted);
        CHECK(moved(s, any, at, f) == wanted);
    };
    const texts &a = {all[0], all[1]}, &b = {all[2], all[3]};
    check(all, [](const auto& x) { return identity(x); });
    check({b[0], b[1], a[0], a[1]}, [](const auto& x) { return gather(x, constant({1, 0})); });
    check({a[0], a[1], a[0], a[1], b[0], b[1], b[0], b[1]}, [](const auto& x) { return concat<1>(x, x); });
    check(all, [](const auto& x) { return reshape<4>(x); });
    check({a[0], a[0], a[1], a[1], b[0], b[0], b[1], b[1]}, [](const auto& x) { return stack<2>(x, x); });
    check(b, [](const auto& x) { return slice<1, 2>(x, {1, 0}); });
    check({a[0], a[1], a[0], a[1], b[0], b[1], b[0], b[1]}, [](const auto& x) { return tile<1, 2>(x); });
    check({a[0], b[0], a[1], b[1]}, [](const auto& x) { return transpose<1, 0>(x); });
    check(all, [](const auto& x) { return squeeze<0>(expand_dims<0>(x)); });
    check({a[1], b[1]}, [](const auto& x) { return std::get<1>(split<1, 2>(x)); });
    check({a[1], a[0], b[1], b[0]}, [](const auto& x) { return reverse<1>(x); });
    check(b, [](const auto& x) { return strided_slice<slice_range{1, slice_range::all, 1}>(x); });
    check({all[0], all[1], all[2], all[3], all[0], all[1], all[2], all[3]},
          [](const auto& x) { return broadcast_to<2, 2, 2>(x); });
    CHECK(moved(s, typed, at, [](const auto& x) { return std::get<1>(unstack<0>(x)); }) == b);
    CHECK(moved(s, any, at, [](const auto& x) { return unstack(reshape<2, 2>(x), 0)[1]; }) == b);
    CHECK(op_test::list(s.run(shape(typed), feed(typed, at))) == std::vector<int>{2, 2});
    CHECK(s.run(size(typed), feed(typed, at)) == 4);
    CHECK(s.run(rank(any), feed(any, at)).value<int>() == 2);
    auto shuffled = moved(s, any, at, [](const auto& x) { return random_shuffle(reshape<4>(x), {.seed = 1}); });
    std::sort(shuffled.begin(), shuffled.end());
    CHECK(shuffled == texts{all[0], all[3], all[1], all[2]});
}

TEST_CASE("text: constants, fill, and variables whose slices are replaced") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto words = constant({"a", "bb"});
    static_assert(std::is_same_v<std::remove_const_t<decltype(words)>, constant_value<std::string, 2>>);
    static_assert(std::is_same_v<decltype(constant({"a"})), constant_value<std::string, 1>>);
    static_assert(std::is_same_v<decltype(constant("a")), constant_value<std::string>>);
    CHECK(op_test::list(s.run(words)) == texts{"a", "bb"});
    CHECK(op_test::list(s.run(fill<2>(std::string("x")))) == texts{"x", "x"});
    CHECK(op_test::list(s.run(fill(shape(words), constant("y")))) == texts{"y", "y"});
    variable<std::string, 3> v("v", {"a", "b", "c"});
    s.run(global_variables_initializer());
    CHECK(op_test::list(s.run(v.scatter_update(constant({2, 0}), words))) == texts{"bb", "b", "a"});
    CHECK(op_test::list(s.run(v.assign(concat<0>(words, fill<1>(std::string("x")))))) == texts{"a", "bb", "x"});
}

} // namespace test_ops_string_text
