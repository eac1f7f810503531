// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/reverse_sequence.hpp>

#include <rill/core/array_text.hpp>
#include <rill/ops/math/gradients.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/session/session.hpp>

#include "ops/array/slice_test.hpp"

using namespace rill;

namespace test_ops_array_reverse_sequence {

using slice_test::index;
using slice_test::picked;

/// x [batch, time, n] with the first length[b] steps turned round; `time` and `batch` are the axes.
template <class X> X turned(const X& x, const std::vector<int>& lengths, std::size_t time, std::size_t batch) {
    return picked(x, {x.shape(0), x.shape(1), x.shape(2)}, [=](const index& i) {
        index from = i;
        const auto length = static_cast<std::size_t>(lengths[i[batch]]);
        if (i[time] < length) from[time] = length - 1 - i[time];
        return from;
    });
}

TEST_CASE("reverse_sequence: values and gradient, along every pair of axes") {
    const auto two = constant({3, 0});
    const auto three = constant({std::int64_t{2}, std::int64_t{1}, std::int64_t{0}});
    op_test::node<double, 3>([&](const auto& x) { return reverse_sequence(x, two) * x; },
                             [](const auto& x) { return xt::xarray<double>(turned(x, {3, 0}, 1, 0) * x); },
                             {{2, 3, 2}});
    op_test::node<double, 3>([&](const auto& x) { return reverse_sequence<0, 1>(x, three); },
                             [](const auto& x) { return turned(x, {2, 1, 0}, 0, 1); }, {{2, 3, 2}});
    op_test::node<int, 3>([&](const auto& x) { return reverse_sequence<-1, 1>(x, three); },
                          [](const auto& x) { return turned(x, {2, 1, 0}, 2, 1); }, {{2, 3, 2}});
    op_test::node<float, 3>([&](const auto& x) { return reverse_sequence<0, 2>(x, two); },
                            [](const auto& x) { return turned(x, {3, 0}, 0, 2); }, {{3, 4, 2}});
    op_test::node<double, 3>([&](const auto& x) { return reverse_sequence(x, three, -1, 1); },
                             [](const auto& x) { return turned(x, {2, 1, 0}, 2, 1); }, {{2, 3, 2}});
    op_test::node<float, 3>([&](const auto& x) { return reverse_sequence(x, two, 0, 2); },
                            [](const auto& x) { return turned(x, {3, 0}, 0, 2); }, {{3, 4, 2}});
    const graph_scope here{graph()};
    const placeholder<float, 2, 3> x("x");
    CHECK_THROWS_WITH(reverse_sequence(x, constant({1, 2}), 2, 0),
                      contains("reverse_sequence: an axis is out of range: 2"));
    CHECK_THROWS_WITH(reverse_sequence(x, constant({1, 2}), 1, -1), contains("an axis is named twice: -1"));
    static_assert(std::is_same_v<decltype(reverse_sequence(std::declval<tensor<float, dyn, 4, dyn>>(), two)),
                                 tensor<float, dyn, 4, dyn>>);
}

TEST_CASE("reverse_sequence: lengths of the host, and tensors whose type is known at run time only") {
    const graph_scope here{graph()};
    const session s;
    const placeholder<float, 2, 3> x("x");
    const any_tensor any = any_placeholder("any", dtype::float32, {dyn, dyn}), ranked = x;
    const xt::xtensor<float, 2> numbers{{1, 2, 3}, {4, 5, 6}};
    const feed_value at = feed(x, numbers), at_any = feed(any, numbers);
    const std::string first = "{{2, 1, 3}, {6, 5, 4}}", along_0 = "{{4, 2, 3}, {1, 5, 6}}";
    CHECK(to_string(s.run(reverse_sequence(x, {2, 3}), at)) == first);
    CHECK(to_string(s.run(reverse_sequence(x, {2, 3}, 1, 0), at)) == first);
    CHECK(to_string(s.run(reverse_sequence(x, any_tensor(constant({2, 3}))), at)) == first);
    CHECK(to_string(s.run(reverse_sequence<0, 1>(x, {2, 1, 0}), at)) == along_0);
    static_assert(std::is_same_v<decltype(reverse_sequence(any, {2, 3})), any_tensor>);
    for (const any_tensor& y : {reverse_sequence(any, {2, 3}), reverse_sequence(any, constant({2, 3}), -1, 0)})
        CHECK(to_string(s.run(y, at_any)) == "float32 [2, 3] " + first);
    CHECK(to_string(s.run(reverse_sequence<0, 1>(ranked, {2, 1, 0}), at)) == "float32 [2, 3] " + along_0);
    CHECK(
        s.run(reverse_sequence(any, any_tensor(constant(std::vector<int>()))), feed(any, xt::xtensor<float, 2>({0, 3})))
            .size() == 0);
    const any_tensor deep = any_placeholder("deep", dtype::int32, {2, dyn, dyn});
    CHECK(to_string(s.run(reverse_sequence(deep, {1, 2}, 2, 0), feed(deep, xt::xtensor<int, 3>{{{1, 2}}, {{3, 4}}}))) ==
          "int32 [2, 1, 2] {{{1, 2}}, {{4, 3}}}");
    const any_tensor d =
        gradients(reverse_sequence(ranked, {2, 3}) * constant({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}}), ranked)[0];
    CHECK(to_string(s.run(d, at)) == "float32 [2, 3] " + first);
    CHECK_THROWS_WITH(reverse_sequence(any_placeholder("open", dtype::float32), {1}),
                      contains("reverse_sequence: the rank of the tensor must be known"));
    CHECK_THROWS_WITH(reverse_sequence(any, {2, 3}, 2, 0), contains("reverse_sequence: an axis is out of range: 2"));
    CHECK_THROWS_WITH(reverse_sequence(x, any_tensor(constant({1.f, 2.f}))),
                      contains("the lengths must be int32 or int64"));
    CHECK_THROWS_WITH(s.run(reverse_sequence(any, {2, 4}), at_any), contains("length 4 at [1] is outside [0, 4)"));
}

TEST_CASE("reverse_sequence: a length beyond the sequence, an empty batch") {
    const graph_scope here{graph()};
    const placeholder<float, dyn, dyn> x("x");
    const placeholder<int, dyn> n("n");
    const auto y = reverse_sequence(x, n);
    const session s;
    CHECK(to_string(s.run(y, feed(x, xt::xtensor<float, 2>{{1, 2, 3}, {4, 5, 6}}), feed(n, std::vector<int>{2, 3}))) ==
          "{{2, 1, 3}, {6, 5, 4}}");
    CHECK_THROWS_WITH(s.run(y, feed(x, xt::xtensor<float, 2>{{1, 2, 3}}), feed(n, std::vector<int>{4})),
                      contains("length 4 at [0] is outside [0, 4)"));
    CHECK(s.run(y, feed(x, xt::xtensor<float, 2>({0, 3})), feed(n, std::vector<int>())).size() == 0);
    CHECK_THROWS_WITH(
        sequence_lengths_op{}.outputs(std::vector<tensor_type>{{dtype::int64, {3}}, {dtype::float32, {2, 5}}}),
        contains("there are 3 lengths, and a batch of 2"));
}

TEST_CASE("sequence_mask: of all forms") {
    const graph_scope here{graph()};
    const session s;
    const tensor n = constant({1, 3, 0});
    const auto mask = sequence_mask<4>(n);
    static_assert(std::is_same_v<std::remove_const_t<decltype(mask)>, tensor<bool, 3, 4>>);
    const std::string all = "{{1, 0, 0, 0}, {1, 1, 1, 0}, {0, 0, 0, 0}}";
    CHECK(to_string(s.run(cast<int>(mask))) == all);
    CHECK(to_string(s.run(cast<int>(sequence_mask(n, 4)))) == all);
    const placeholder<std::int64_t> longest("longest");
    CHECK(to_string(s.run(cast<int>(sequence_mask(n, longest)), feed(longest, std::int64_t{4}))) == all);
    CHECK(to_string(s.run(cast<int>(sequence_mask(n)))) == "{{1, 0, 0}, {1, 1, 1}, {0, 0, 0}}");
    CHECK(to_string(s.run(cast<int>(sequence_mask<2>(constant({{std::int64_t{9}}}))))) == "{{{1, 1}}}");
    const placeholder<int, dyn> open("open");
    CHECK(s.run(sequence_mask(open), feed(open, std::vector<int>())).size() == 0);
}

TEST_CASE("sequence_lengths: made by name, its fields read back") {
    const op_ptr made = make_op(sequence_lengths_op{.time_axis = 0, .batch_axis = 1, .steps = 7});
    CHECK(make_op("SequenceLengths", 1, bytes_of_fields(*made))->equals(*made));
    CHECK_FALSE(make_op("SequenceLengths")->equals(*made));
}

} // namespace test_ops_array_reverse_sequence
