// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/array_text.hpp>

#include <complex>
#include <numeric>
#include <sstream>

#include "catch.hpp"

using namespace rill;

namespace test_core_array_text {

template <class T> any_array array(const dims& shape, const std::vector<T>& values) {
    any_array a(dtype_of<T>, shape);
    std::copy(values.begin(), values.end(), static_cast<T*>(a.mutable_data()));
    return a;
}

} // namespace test_core_array_text
using test_core_array_text::array;

TEST_CASE("array_text: dtype, shape and elements of every kind") {
    CHECK(to_string(array<float>({2, 2}, {1, 2, 3, 0.5f})) == "float32 [2, 2] {{1, 2}, {3, 0.5}}");
    CHECK(to_string(array<double>({}, {0.1})) == "float64 [] 0.1");
    CHECK(to_string(array<std::int8_t>({2}, {65, -1})) == "int8 [2] {65, -1}");
    CHECK(to_string(array<std::uint64_t>({1}, {~std::uint64_t(0)})) == "uint64 [1] {18446744073709551615}");
    CHECK(to_string(array<half>({1}, {half(1.5f)})) == "half [1] {1.5}");
    CHECK(to_string(array<std::complex<float>>({1}, {{1, -2}})) == "complex64 [1] {(1,-2)}");
    CHECK(to_string(array<std::string>({2}, {"a", "b c"})) == "string [2] {\"a\", \"b c\"}");
    CHECK(to_string(array<int>({0, 3}, {})) == "int32 [0, 3] {}");
    CHECK(to_string(array<int>({2, 0}, {})) == "int32 [2, 0] {{}, {}}");
    CHECK(to_string(any_array()) == "any_array()");
    any_array yes(dtype::boolean, {1, 2});
    static_cast<bool*>(yes.mutable_data())[0] = true;
    static_cast<bool*>(yes.mutable_data())[1] = false;
    std::ostringstream out;
    out << yes << '!';
    CHECK(out.str() == "bool [1, 2] {{true, false}}!");
}

TEST_CASE("array_text: what a run gives, the elements alone") {
    const xt::xtensor<float, 2> a{{1.f, 2.5f}, {-3.f, 4.f}};
    std::ostringstream out;
    out << a << ' ' << xt::xtensor<bool, 1>{true, false} << ' ' << xt::xtensor<int, 1>();
    CHECK(out.str() == "{{1, 2.5}, {-3, 4}} {true, false} {}");
    CHECK(to_string(xt::xtensor<std::string, 1>{"a"}) == "{\"a\"}");
}

TEST_CASE("array_text: of many elements the ends") {
    std::vector<int> numbers(2000);
    std::iota(numbers.begin(), numbers.end(), 0);
    CHECK(to_string(array<int>({2000}, numbers)) == "int32 [2000] {0, 1, 2, ..., 1997, 1998, 1999}");
    CHECK(to_string(array<int>({1000, 2}, numbers)) ==
          "int32 [1000, 2] {{0, 1}, {2, 3}, {4, 5}, ..., {1994, 1995}, {1996, 1997}, {1998, 1999}}");
    numbers.resize(7);
    CHECK(to_string(array<int>({7}, numbers)) == "int32 [7] {0, 1, 2, 3, 4, 5, 6}");
}
