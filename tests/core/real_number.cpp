// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/real_number.hpp>

#include <complex>

#include "catch.hpp"

using namespace rill;

namespace test_core_real_number {

template <class T> any_array number(const T& value) {
    any_array a(dtype_of<T>, dims{});
    *static_cast<T*>(a.mutable_data()) = value;
    return a;
}

TEST_CASE("real_number: of every real type, others are refused with their type") {
    const auto of = [](const auto& value) { return detail::real_number(number(value), "the loss"); };
    CHECK(of(0.5f) == 0.5);
    CHECK(of(0.1) == 0.1);
    CHECK(of(half(-2.f)) == -2);
    CHECK(of(bfloat16(3.f)) == 3);
    CHECK(of(std::int64_t(-7)) == -7);
    CHECK(of(std::uint8_t(200)) == 200);
    CHECK(of(true) == 1);
    CHECK_THROWS_WITH(of(std::complex<float>(1, 2)), "the loss is complex64 [], not a real number");
    CHECK_THROWS_WITH(of(std::string("one")), contains("the loss is string []"));
}

} // namespace test_core_real_number
