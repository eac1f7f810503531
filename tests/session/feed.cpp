// SPDX-License-Identifier: BSD-3-Clause
#include <rill/session/feed.hpp>

#include <array>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/add.hpp>

#if __has_include(<xtensor/views/xview.hpp>)
#include <xtensor/views/xview.hpp>
#else
#include <xtensor/xview.hpp>
#endif

#include "catch.hpp"

using namespace rill;

namespace test_feed {

template <class T> std::vector<T> values(const feed_value& f) {
    const auto all = f.value.elements<T>();
    return {all.begin(), all.end()};
}

/// The array that a run is given.
any_array given(detail::feed_reference f) { return f.get()->value; }

struct fixture {
    graph g;
    graph_scope here{g};
    placeholder<float, dyn, 2> pairs{"pairs"};
    placeholder<float> scalar{"scalar"};
    placeholder<std::int8_t, dyn> bytes{"bytes"};
    placeholder<std::string, dyn> words{"words"};
    any_tensor any = any_placeholder("any", dtype::float32);
};

} // namespace test_feed

using test_feed_fixture = test_feed::fixture;

TEST_CASE_METHOD(test_feed_fixture, "feed: every kind of host value") {
    using test_feed::given, test_feed::values;
    const std::vector<float> four{1, 2, 3, 4};
    const xt::xtensor<float, 2> m{{1, 2}, {3, 4}};
    CHECK(given(feed(pairs, four)).data() == four.data());
    CHECK(given(feed(pairs, std::span(four))).data() == four.data());
    CHECK(values<float>(feed(pairs, std::vector<float>(four))) == four);
    CHECK(given(feed(pairs, m)).data() == m.storage().data());
    CHECK(values<float>(feed(pairs, m * 2.f)) == std::vector<float>{2, 4, 6, 8});
    CHECK(values<float>(feed(pairs, xt::view(m, xt::range(1, 2), xt::all()))) == std::vector<float>{3, 4});
    CHECK(values<float>(feed(pairs, {{1.f, 2.f}, {3.f, 4.f}})) == four);
    CHECK(values<float>(feed(pairs, std::array<float, 4>{1, 2, 3, 4})) == four);
    CHECK(feed(pairs, any_array(dtype::float32, dims{3, 2})).value.shape() == dims{3, 2});
    CHECK(feed(any, any_array(dtype::float32, dims{3, 2})).value.shape() == dims{3, 2});
    CHECK(feed("any", any_array(dtype::float32, dims{3, 2})).value.shape() == dims{3, 2});
    CHECK(values<float>(feed(scalar, 2.5f)) == std::vector<float>{2.5f});
    CHECK(values<float>(feed(scalar, 2)) == std::vector<float>{2.f}); // a literal, as beside a tensor
    CHECK(values<std::int8_t>(feed(bytes, {1, 2, 3})) == std::vector<std::int8_t>{1, 2, 3});
    CHECK(values<std::string>(feed(words, {"a", "b"})) == std::vector<std::string>{"a", "b"});
    CHECK(values<std::string>(feed(words, std::vector<std::string>{"c"})) == std::vector<std::string>{"c"});
}

TEST_CASE_METHOD(test_feed_fixture, "feed: one that is kept has a value of its own, however it was given") {
    using test_feed::values;
    std::vector<feed_value> kept;
    {
        std::vector<float> flat{1, 2};
        xt::xtensor<float, 2> m{{3, 4}, {5, 6}};
        std::vector<std::string> text{"a word that is long enough for memory of its own"};
        kept.push_back(feed(pairs, flat));
        kept.push_back(feed("pairs:0", flat));
        kept.push_back(feed(any, flat));
        kept.emplace_back(feed(pairs, std::span(flat)));
        kept.push_back(feed(pairs, m));
        kept.push_back(feed(pairs, xt::view(m, xt::range(1, 2), xt::all())));
        kept.push_back(feed(words, text));
        std::fill(flat.begin(), flat.end(), -1.f);
        m.fill(-1);
        text[0].assign(text[0].size(), '-');
    }
    for (std::size_t i = 0; i < 4; ++i) CHECK(values<float>(kept[i]) == std::vector<float>{1, 2});
    CHECK(values<float>(kept[4]) == std::vector<float>{3, 4, 5, 6});
    CHECK(values<float>(kept[5]) == std::vector<float>{5, 6});
    CHECK(values<std::string>(kept[6])[0].starts_with("a word"));
    CHECK(kept[4].edge.node() == pairs.node());
    // what owns its value at once may be kept as it is
    using lvalue = decltype(feed(pairs, std::declval<std::vector<float>&>()));
    STATIC_REQUIRE(std::is_same_v<lvalue, borrowed_feed>);
    STATIC_REQUIRE(std::is_same_v<decltype(feed(pairs, std::vector<float>())), feed_value>);
    STATIC_REQUIRE(std::is_same_v<decltype(feed(pairs, xt::xtensor<float, 2>())), feed_value>);
    STATIC_REQUIRE(std::is_same_v<decltype(feed(scalar, 1.f)), feed_value>);
    STATIC_REQUIRE(may_be_fed<borrowed_feed> && may_be_fed<const feed_value&>);
    STATIC_REQUIRE_FALSE(may_be_fed<const borrowed_feed&> || may_be_fed<borrowed_feed&>);
}

TEST_CASE_METHOD(test_feed_fixture, "feed: what temporaries hold is taken over, not copied") {
    std::vector<float> four{1, 2, 3, 4};
    const auto* data = four.data();
    const feed_value f = feed(pairs, std::move(four));
    CHECK(f.value.data() == data);
    CHECK(f.edge.end() == pairs.end());
}

TEST_CASE_METHOD(test_feed_fixture, "feed: a wrong shape names the edge, both types and the place") {
    CHECK_THROWS_AS(feed(pairs, {{1.f, 2.f, 3.f}}), invalid_argument);
    CHECK_THROWS_WITH(feed(pairs, {{1.f, 2.f, 3.f}}), contains("'pairs:0'") && contains("float32 [?, 2]") &&
                                                          contains("float32 [1, 3]") && contains("feed.cpp:"));
    CHECK_THROWS_WITH(feed(pairs, std::vector<float>(5)),
                      contains("'pairs:0'") && contains("5 elements") && contains("[?, 2]"));
    CHECK_THROWS_AS(feed(pairs, xt::xtensor<float, 1>{1, 2}), invalid_argument);
    CHECK_THROWS_AS(feed(scalar, std::vector<float>{1, 2}), invalid_argument);
    CHECK_THROWS_AS(feed(pairs, 1.f), invalid_argument);
    CHECK_THROWS_WITH(feed(pairs, any_array(dtype::float64, dims{1, 2})), contains("float64"));
}

TEST_CASE_METHOD(test_feed_fixture, "feed: literals are range checked") {
    placeholder<std::int8_t> small("small");
    CHECK(feed(small, -128).value.value<std::int8_t>() == -128);
    CHECK_THROWS_AS(feed(small, 128), invalid_argument);
    CHECK_THROWS_WITH(feed(small, 300), contains("300") && contains("int8"));
    STATIC_REQUIRE(feeds_as<int, float>);
    STATIC_REQUIRE_FALSE(feeds_as<float, int>);
    STATIC_REQUIRE_FALSE(feeds_as<std::vector<double>, float>);
    STATIC_REQUIRE_FALSE(feeds_as<bool, float>);
    STATIC_REQUIRE(feeds_as<const char*, std::string>);
    STATIC_REQUIRE(feeds_as<any_array, float>);
}

TEST_CASE_METHOD(test_feed_fixture, "feed: an edge of unknown type is checked against the value") {
    CHECK(feed(any, 3.f).value.shape() == dims{});
    CHECK(feed(any, std::vector<float>{1, 2}).value.shape() == dims{2});
    CHECK(feed(any, xt::xtensor<float, 2>{{1, 2, 3}}).value.shape() == dims{1, 3});
    CHECK_THROWS_AS(feed(any, 3.0), invalid_argument);
    CHECK_THROWS_WITH(feed(any, std::vector<int>{1}),
                      contains("'any:0'") && contains("float32 unknown rank") && contains("int32 [1]"));
}

TEST_CASE_METHOD(test_feed_fixture, "feed: a handle's static extents count too, where the node knows less") {
    const tensor<float, dyn, 3> rows(any);
    CHECK(feed(rows, {{1.f, 2.f, 3.f}}).value.shape() == dims{1, 3});
    CHECK_THROWS_AS(feed(rows, xt::xtensor<float, 1>{1, 2, 3}), invalid_argument);
    CHECK_THROWS_AS(feed(rows, xt::xtensor<float, 2>{{1, 2}}), invalid_argument);
}

TEST_CASE_METHOD(test_feed_fixture, "feed: by name the value is kept until the run knows the edge") {
    const feed_value f = feed("pairs:0", std::vector<float>{1, 2});
    CHECK_FALSE(bool(f.edge));
    CHECK(f.edge_name == "pairs:0");
    CHECK(f.value.shape() == dims{2});
    CHECK(fetch("x").name == "x");
}

TEST_CASE("feed: a null handle is refused") {
    const tensor<float> null;
    CHECK_THROWS_AS(feed(null, 1.f), failed_precondition);
    CHECK_THROWS_AS(feed(any_tensor(), 1.f), failed_precondition);
    const tensor<float, dyn> row;
    CHECK_THROWS_AS(feed(row, {1.f, 2.f}), failed_precondition);
}

TEST_CASE_METHOD(test_feed_fixture, "feed: a user's own array must have extents that can be counted") {
    const float values[4] = {};
    const auto given = [&](const dims& shape) { return any_array(dtype::float32, shape, values, nullptr); };
    for (const dims& shape : {dims{dyn, 2}, dims{-3, 2}, dims::unknown(), dims{index_t(1) << 61, 2}}) {
        CHECK_THROWS_AS(feed(any, given(shape)), invalid_argument);
        CHECK_THROWS_AS(feed(pairs, given(shape)), invalid_argument);
    }
    CHECK_THROWS_WITH(feed(any, given({-3, 2})), contains("'any:0'") && contains("[-3, 2]"));
    CHECK(feed(pairs, given({2, 2})).value.data() == values);
}

TEMPLATE_TEST_CASE("feed: numbers of 16 bits, for tensors of their type", "", half, bfloat16) {
    using H = TestType;
    const graph g;
    const graph_scope here(g);
    placeholder<H> x("x");
    placeholder<H, 2> pair("pair");
    STATIC_REQUIRE((feeds_as<H, H> && !feeds_as<H, float>));
    CHECK(test_feed::values<H>(feed(x, H(2.f))) == std::vector<H>{H(2.f)});
    CHECK(test_feed::values<H>(feed(x, 2.f)) == std::vector<H>{H(2.f)});
    CHECK(test_feed::values<H>(feed(any_tensor(x), H(2.f))) == std::vector<H>{H(2.f)});
    CHECK(test_feed::values<H>(feed(pair, {H(1.f), H(2.f)})) == std::vector<H>{H(1.f), H(2.f)});
}
