// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/plain_tuple.hpp>

#include <string>

#include "catch.hpp"

using namespace rill;

TEST_CASE("plain_tuple: values of different types, found by index") {
    using namespace rill::detail;
    plain_tuple<int, std::string, int> r(1, "two", 3);
    CHECK(at<0>(r) == 1);
    CHECK(at<1>(r) == "two");
    at<2>(r) = 4;
    CHECK(at<2>(r) == 4);
    const auto copy = r;
    CHECK(at<1>(copy) == "two");
    static_assert(std::is_same_v<plain_element<1, plain_tuple<int, std::string, int>>, std::string>);
    static_assert(!std::is_convertible_v<int, plain_tuple<int>>);
    static_assert(std::is_empty_v<plain_tuple<>>);
}

TEST_CASE("plain_tuple: std::tuple is read alike") {
    using namespace rill::detail;
    std::tuple t(1, 2.5);
    at<0>(t) = 7;
    CHECK(at<0>(t) == 7);
    CHECK(at<1>(std::as_const(t)) == 2.5);
    static_assert(std::is_same_v<plain_element<1, std::tuple<int, double>>, double>);
}

TEST_CASE("plain_tuple: spread hands all values to a function") {
    using namespace rill::detail;
    CHECK(spread([](int a, const std::string& b) { return std::to_string(a) + b; },
                 plain_tuple<int, std::string>(1, "b")) == "1b");
    CHECK(spread([] { return 5; }, plain_tuple<>()) == 5);
}

TEST_CASE("plain_tuple: lists of types are joined") {
    using namespace rill::detail;
    using all = joined<type_list<int>, type_list<>, type_list<float, bool>>;
    static_assert(std::is_same_v<all, type_list<int, float, bool>>);
    static_assert(std::is_same_v<joined<>, type_list<>>);
    static_assert(std::is_same_v<tuple_of_list<all>, plain_tuple<int, float, bool>>);
    CHECK(at<1>(tuple_of_list<all>(1, 2.f, true)) == 2.f);
}
