// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/wire_format.hpp>

#include <bit>
#include <cmath>
#include <limits>

#include "catch.hpp"

using namespace rill;

namespace test_wire_format {

template <class T> any_array number(T x) {
    any_array a(dtype_of<T>, dims{});
    *static_cast<T*>(a.mutable_data()) = x;
    return a;
}

/// Returns what a number is after it has travelled.
float travelled(float x, wire_format form) {
    const any_array a = number(x);
    const auto packed = detail::packed(a, form);
    CHECK(packed.dtype() == (form == wire_format::as_is ? dtype::float32 : dtype::uint16));
    return detail::unpacked(packed, a.type(), form).value<float>();
}

TEST_CASE("wire format: 16 bits of a float, cut or rounded to even") {
    using limits = std::numeric_limits<float>;
    for (const float x : {0.f, -0.f, 1.f, -2.5f, limits::infinity(), -limits::infinity()})
        for (const auto form : {wire_format::as_is, wire_format::bfloat16, wire_format::upper16})
            CHECK(std::bit_cast<std::uint32_t>(travelled(x, form)) == std::bit_cast<std::uint32_t>(x));
    const auto bits = [](std::uint32_t b) { return std::bit_cast<float>(b); };
    CHECK(travelled(bits(0x3f808000), wire_format::bfloat16) == bits(0x3f800000)); // a tie: to even
    CHECK(travelled(bits(0x3f818000), wire_format::bfloat16) == bits(0x3f820000));
    CHECK(travelled(bits(0x3f808001), wire_format::bfloat16) == bits(0x3f810000));
    CHECK(travelled(bits(0x3f80ffff), wire_format::upper16) == bits(0x3f800000));
    CHECK(std::isinf(travelled(limits::max(), wire_format::bfloat16)));
    CHECK(!std::isinf(travelled(limits::max(), wire_format::upper16)));
    for (const auto form : {wire_format::bfloat16, wire_format::upper16})
        CHECK(std::isnan(travelled(bits(0x7f800001), form))); // a NaN of the lower half
}

TEST_CASE("wire format: other dtypes as they are, what can't be a packed float is refused") {
    const any_array a = number(1. / 3);
    CHECK(detail::packed(a, wire_format::bfloat16).value<double>() == 1. / 3);
    CHECK(detail::unpacked(a, a.type(), wire_format::bfloat16).value<double>() == 1. / 3);
    CHECK_THROWS_WITH(detail::unpacked(a, {dtype::float32, dims{}}, wire_format::upper16), contains("float64"));
}

TEST_CASE("wire format: bundles of several arrays") {
    const std::vector<any_array> all{number(2.f), number(1. / 3), any_array(dtype::uint8, dims{0}), number(true)};
    std::vector<tensor_type> types;
    for (const auto& a : all) types.push_back(a.type());
    CHECK(detail::bundle_bytes(types, wire_format::as_is) == 24);
    for (const auto form : {wire_format::as_is, wire_format::bfloat16, wire_format::upper16}) {
        const auto bundle = detail::bundled(all, form);
        CHECK(bundle.size() == static_cast<index_t>(detail::bundle_bytes(types, form)));
        const auto back = detail::unbundled(bundle, types, form);
        REQUIRE(back.size() == 4);
        CHECK(back[0].value<float>() == 2.f);
        CHECK(back[1].value<double>() == 1. / 3);
        CHECK(back[2].size() == 0);
        CHECK(back[3].value<bool>());
    }
    types.pop_back();
    CHECK_THROWS_WITH(detail::unbundled(detail::bundled(all, wire_format::as_is), types, wire_format::as_is),
                      contains("not 16 bytes"));
}

} // namespace test_wire_format
