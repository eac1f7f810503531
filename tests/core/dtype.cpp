// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/dtype.hpp>

#include <set>

#include "catch.hpp"

using namespace rill;

TEST_CASE("dtype: numbers are those of the file and wire formats") {
    const std::vector<dtype> in_order{dtype::invalid, dtype::float32,   dtype::float64,    dtype::int8,
                                      dtype::int16,   dtype::int32,     dtype::int64,      dtype::uint8,
                                      dtype::uint16,  dtype::uint32,    dtype::uint64,     dtype::boolean,
                                      dtype::string,  dtype::complex64, dtype::complex128, dtype::bfloat16,
                                      dtype::half,    dtype::qint8,     dtype::quint8,     dtype::qint32};
    REQUIRE(static_cast<int>(in_order.size()) == dtype_count);
    for (std::size_t i = 0; i < in_order.size(); ++i) CHECK(static_cast<std::size_t>(in_order[i]) == i);
}

TEST_CASE("dtype: type, name and size of every dtype agree") {
    std::set<std::string_view> names;
    int visited = 0;
    for (int i = 0; i < dtype_count; ++i) {
        const auto d = static_cast<dtype>(i);
        names.insert(to_string(d));
        detail::visit_dtype(d, [&]<class T>(std::type_identity<T>) {
            ++visited;
            CHECK(dtype_of<T> == d);
            CHECK(sizeof(T) == size_of(d));
            CHECK(is_differentiable(d) == (is_real_floating<T> || is_complex<T>));
        });
    }
    CHECK(visited == dtype_count - 1); // nothing for `invalid`
    CHECK(names.size() == static_cast<std::size_t>(dtype_count));
    CHECK(to_string(dtype::boolean) == "bool");
    CHECK(to_string(dtype::float32) == "float32");
}

TEST_CASE("dtype: the list of element types is closed") {
    STATIC_REQUIRE(element<std::complex<float>>);
    STATIC_REQUIRE(element<std::string>);
    STATIC_REQUIRE_FALSE(element<char>); // text, not a number; int8_t is signed char
    STATIC_REQUIRE_FALSE(element<long double>);
    STATIC_REQUIRE_FALSE(element<const float>);
    STATIC_REQUIRE(is_numeric<std::uint8_t>);
    STATIC_REQUIRE(is_numeric<half>);
    STATIC_REQUIRE_FALSE(is_numeric<bool>);
    STATIC_REQUIRE_FALSE(is_numeric<qint8>);
    STATIC_REQUIRE_FALSE(is_integral<bool>);
}
