// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/primitives.hpp>

#include <rill/device/devices.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_primitives {

// Devices that lack one primitive: the name is there, and hides the CPU's.
struct no_name : cpu {
    static constexpr int type = 3;
};
struct no_fused : cpu {
    static void fused();
};
struct no_gemm : cpu {
    template <class T> static void gemm(const T*);
};
struct no_strided_copy : cpu {
    static void copy(dtype, const void*, void*, index_t);
};
struct no_flat_copy : cpu {
    template <class T> static void copy(const T*, T*, const detail::strided_layout&);
};
struct no_strided_add : cpu {
    static void add();
};
struct no_gather : cpu {
    static void gather();
};
struct no_rows : cpu {
    static void rows();
};
struct no_update_rows : cpu {
    static void update_rows();
};
struct other_outside : cpu { // there, but it tells something else
    template <class I> static index_t first_outside(const I*, index_t, index_t);
};

} // namespace test_primitives

TEST_CASE("primitives: a device has all of them, under these names") {
    using namespace test_primitives;
    STATIC_REQUIRE(device_primitives<cpu>);
    STATIC_REQUIRE_FALSE(device_primitives<int>);
    STATIC_REQUIRE_FALSE(device_primitives<no_name>);
    STATIC_REQUIRE_FALSE(device_primitives<no_fused>);
    STATIC_REQUIRE_FALSE(device_primitives<no_gemm>);
    STATIC_REQUIRE_FALSE(device_primitives<no_strided_copy>);
    STATIC_REQUIRE_FALSE(device_primitives<no_flat_copy>);
    STATIC_REQUIRE_FALSE(device_primitives<no_strided_add>);
    STATIC_REQUIRE_FALSE(device_primitives<no_gather>);
    STATIC_REQUIRE_FALSE(device_primitives<no_rows>);
    STATIC_REQUIRE_FALSE(device_primitives<no_update_rows>);
    STATIC_REQUIRE_FALSE(device_primitives<other_outside>);
}

TEST_CASE("primitives: numbers of rows, from some row on") {
    const std::vector<std::int32_t> labels{4, 5, 6};
    std::vector<float> losses(3);
    const row_numbers<float> all{labels.data(), losses.data()};
    CHECK(all.from(2).read == labels.data() + 2);
    CHECK(all.from(2).written == losses.data() + 2);
    const row_numbers<float> none;
    CHECK(none.from(2).read == nullptr);
    CHECK(none.from(2).written == nullptr);
    CHECK(outside_index().at == -1);
}
