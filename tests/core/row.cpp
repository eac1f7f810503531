// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/row.hpp>

#include <string>

#include "catch.hpp"

using namespace rill;

TEST_CASE("row: values of different types, found by index") {
    using namespace rill::detail;
    row<int, std::string, int> r(1, "two", 3);
    CHECK(at<0>(r) == 1);
    CHECK(at<1>(r) == "two");
    at<2>(r) = 4;
    CHECK(at<2>(r) == 4);
    const auto copy = r;
    CHECK(at<1>(copy) == "two");
    static_assert(std::is_same_v<row_element<1, row<int, std::string, int>>, std::string>);
    static_assert(!std::is_convertible_v<int, row<int>>);
    static_assert(std::is_empty_v<row<>>);
}

TEST_CASE("row: std::tuple is read alike") {
    using namespace rill::detail;
    std::tuple t(1, 2.5);
    at<0>(t) = 7;
    CHECK(at<0>(t) == 7);
    CHECK(at<1>(std::as_const(t)) == 2.5);
    static_assert(std::is_same_v<row_element<1, std::tuple<int, double>>, double>);
}

TEST_CASE("row: spread hands all values to a function") {
    using namespace rill::detail;
    CHECK(spread([](int a, const std::string& b) { return std::to_string(a) + b; }, row<int, std::string>(1, "b")) ==
          "1b");
    CHECK(spread([] { return 5; }, row<>()) == 5);
}

TEST_CASE("row: lists of types are joined") {
    using namespace rill::detail;
    using all = joined<type_list<int>, type_list<>, type_list<float, bool>>;
    static_assert(std::is_same_v<all, type_list<int, float, bool>>);
    static_assert(std::is_same_v<joined<>, type_list<>>);
    static_assert(std::is_same_v<row_of_list<all>, row<int, float, bool>>);
    CHECK(at<1>(row_of_list<all>(1, 2.f, true)) == 2.f);
}
