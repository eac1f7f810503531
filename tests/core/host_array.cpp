// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/host_array.hpp>

#include <array>
#include <list>

#if __has_include(<xtensor/containers/xadapt.hpp>)
#include <xtensor/containers/xadapt.hpp>
#include <xtensor/core/xmath.hpp>
#include <xtensor/generators/xbuilder.hpp>
#include <xtensor/views/xstrided_view.hpp>
#include <xtensor/views/xview.hpp>
#else
#include <xtensor/xadapt.hpp>
#include <xtensor/xbuilder.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xstrided_view.hpp>
#include <xtensor/xview.hpp>
#endif

#include "catch.hpp"

using namespace rill;

namespace test_host_array {

template <class T> std::vector<T> values(const any_array& a) {
    const auto all = a.elements<T>();
    return {all.begin(), all.end()};
}

} // namespace test_host_array

TEST_CASE("host array: lvalues are borrowed") {
    const std::vector<float> v{1, 2, 3};
    CHECK(to_any_array<float>(v).data() == v.data());
    CHECK(to_any_array<float>(std::span(v)).data() == v.data()); // a span is a borrower itself
    const xt::xtensor<float, 2> m{{1, 2}, {3, 4}};
    const auto a = to_any_array<float>(m);
    CHECK(a.data() == m.storage().data());
    CHECK(a.shape() == dims{2, 2});
    const std::array<int, 2> few{4, 5};
    CHECK(to_any_array<int>(few).data() == few.data());
    const any_array any(dtype::float32, dims{1});
    CHECK(to_any_array<float>(any).data() == any.data());
}

TEST_CASE("host array: temporaries are taken over") {
    std::vector<float> v{1, 2, 3};
    const auto* data = v.data();
    const auto a = to_any_array<float>(std::move(v));
    CHECK(a.data() == data);
    xt::xtensor<double, 2> m{{1, 2}, {3, 4}};
    const auto* cells = m.storage().data();
    const auto b = to_any_array<double>(std::move(m));
    CHECK(b.elements<double>()[3] == 4);
    CHECK(b.data() == cells);
}

TEST_CASE("host array: expressions and other layouts are evaluated row by row") {
    using test_host_array::values;
    const xt::xtensor<float, 2> m{{1, 2, 3}, {4, 5, 6}};
    CHECK(values<float>(to_any_array<float>(m * 2.f + 1.f)) == std::vector<float>{3, 5, 7, 9, 11, 13});
    const xt::xtensor<float, 2, xt::layout_type::column_major> columns = m;
    CHECK(values<float>(to_any_array<float>(columns)) == std::vector<float>{1, 2, 3, 4, 5, 6});
    CHECK(values<float>(to_any_array<float>(xt::transpose(m))) == std::vector<float>{1, 4, 2, 5, 3, 6});
}

TEST_CASE("host array: a view gives its own elements, not its container's") {
    using test_host_array::values;
    const xt::xtensor<float, 2> m{{1, 2, 3}, {4, 5, 6}};
    CHECK(values<float>(to_any_array<float>(xt::view(m, 1, xt::all()))) == std::vector<float>{4, 5, 6});
    CHECK(values<float>(to_any_array<float>(xt::view(m, xt::all(), 1))) == std::vector<float>{2, 5});
    CHECK(values<float>(to_any_array<float>(xt::view(m, xt::range(1, 2), xt::all()))) == std::vector<float>{4, 5, 6});
    CHECK(values<float>(to_any_array<float>(xt::view(m, xt::all(), xt::range(0, 2)))) ==
          std::vector<float>{1, 2, 4, 5});
    const auto second = xt::view(m, 1, xt::all()); // as an lvalue too, and without a copy
    CHECK(to_any_array<float>(second).data() == m.data() + 3);
    CHECK(values<float>(to_any_array<float>(second)) == std::vector<float>{4, 5, 6});
    const std::vector<float> flat{1, 2, 3, 4, 5, 6};
    const auto adapted = xt::adapt(flat, std::array<std::size_t, 2>{3, 2});
    CHECK(to_any_array<float>(adapted).shape() == dims{3, 2});
    CHECK(values<float>(to_any_array<float>(adapted)) == flat);
    const std::array<std::size_t, 1> three{3};
    const std::array<std::ptrdiff_t, 1> every_second{2};
    const auto strided = xt::adapt(flat.data(), three[0], xt::no_ownership(), three, every_second);
    CHECK(values<float>(to_any_array<float>(strided)) == std::vector<float>{1, 3, 5});
}

#ifndef __clang__ // what has a rank at run time only: of Debian's xtensor 0.24, clang 19 does not compile it
TEST_CASE("host array: arrays and views of dynamic rank") {
    const xt::xarray<float> dynamic{{1, 2, 3}, {4, 5, 6}};
    CHECK(to_any_array<float>(dynamic).shape() == dims{2, 3});
    CHECK(to_any_array<float>(dynamic).data() == dynamic.data());
    CHECK(test_host_array::values<float>(to_any_array<float>(xt::strided_view(dynamic, {xt::all(), 2}))) ==
          std::vector<float>{3, 6});
    const xt::xarray<float> nine = xt::ones<float>({1, 1, 1, 1, 1, 1, 1, 1, 1});
    CHECK_THROWS_WITH(to_any_array<float>(nine), contains("9 dimensions"));
}
#endif

TEST_CASE("host array: ranges that are not contiguous, numbers and text") {
    using test_host_array::values;
    CHECK(values<bool>(to_any_array<bool>(std::vector<bool>{true, false, true})) ==
          std::vector<bool>{true, false, true});
    CHECK(values<int>(to_any_array<int>(std::list<int>{7, 8})) == std::vector<int>{7, 8});
    CHECK(to_any_array<float>(2.5f).value<float>() == 2.5f);
    CHECK(to_any_array<std::string>("text").value<std::string>() == "text");
    CHECK(to_any_array<std::string>(std::string("text")).shape() == dims{});
    CHECK(values<std::string>(to_any_array<std::string>(std::vector<std::string>{"a", "b"})) ==
          std::vector<std::string>{"a", "b"});
    CHECK(to_any_array<std::complex<float>>(std::complex<float>(1, 2)).value<std::complex<float>>().imag() == 2.f);
    STATIC_REQUIRE(std::is_same_v<host_element<const char*>, std::string>);
    STATIC_REQUIRE(std::is_same_v<host_element<std::vector<bool>>, bool>);
    STATIC_REQUIRE(std::is_same_v<host_element<const xt::xtensor<double, 2>&>, double>);
    STATIC_REQUIRE(std::is_same_v<host_element<int>, int>);
}

TEST_CASE("host array: flat data takes the shape it is meant for, if at most one extent is open") {
    const std::vector<float> six(6);
    CHECK(to_any_array<float>(six, dims{dyn, 3}).shape() == dims{2, 3});
    CHECK(to_any_array<float>(six, dims{3, 2}).shape() == dims{3, 2});
    CHECK(to_any_array<float>(six, dims::unknown()).shape() == dims{6});
    CHECK(to_any_array<float>(std::vector<float>{}, dims{dyn, 3}).shape() == dims{0, 3});
    CHECK_THROWS_AS(to_any_array<float>(six, dims{dyn, 4}), invalid_argument);
    CHECK_THROWS_WITH(to_any_array<float>(six, dims{dyn, 4}), contains("6 elements") && contains("[?, 4]"));
    CHECK_THROWS_WITH(to_any_array<float>(six, dims{dyn, dyn}), contains("at most one extent"));
    CHECK_THROWS_AS(to_any_array<float>(six, dims{5}), invalid_argument);
    CHECK_THROWS_AS(to_any_array<float>(six, dims{}), invalid_argument);
}

TEST_CASE("host array: nested braces") {
    using test_host_array::values;
    const auto a = list_to_any_array<int, 2>({{1, 2, 3}, {4, 5, 6}});
    CHECK(a.shape() == dims{2, 3});
    CHECK(values<int>(a) == std::vector<int>{1, 2, 3, 4, 5, 6});
    CHECK(list_to_any_array<int, 0>(7).value<int>() == 7);
    CHECK(list_to_any_array<int, 3>({{{1}}, {{2}}}).shape() == dims{2, 1, 1});
    CHECK(list_to_any_array<int, 2>({}).shape() == dims{0, 0});
    CHECK(list_to_any_array<int, 2>({{}, {}}).shape() == dims{2, 0});
    using list = nested_list<int, 2>;
    CHECK_THROWS_AS((list_to_any_array<int, 2>(list{{1, 2}, {3}})), invalid_argument);
    CHECK_THROWS_WITH((list_to_any_array<int, 2>(list{{1, 2}, {3, 4, 5}})), contains("ragged") && contains("[2, 2]"));
}

TEST_CASE("host array: values come back with their static rank") {
    const std::vector<float> six{1, 2, 3, 4, 5, 6};
    const xt::xtensor<float, 2> m = to_host_value<float, 2>(dims{3, 2}, six.data());
    CHECK(m(2, 0) == 5.f);
    CHECK(m.storage().data() != six.data()); // a copy
    const float one = to_host_value<float, 0>(dims{}, six.data());
    CHECK(one == 1.f);
    CHECK(to_host_value<float, 2>(dims{0, 2}, nullptr).size() == 0);
    const std::vector<std::string> words{"a", "b"};
    CHECK(to_host_value<std::string, 1>(dims{2}, words.data())(1) == "b");
    STATIC_REQUIRE(std::is_same_v<host_value<int, 0>, int>);
}
