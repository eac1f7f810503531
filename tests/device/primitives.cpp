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
    static void copy(const execution_context&, dtype, const void*, void*, index_t);
};
struct no_flat_copy : cpu {
    template <class T> static void copy(const execution_context&, const T*, T*, const detail::strided_layout&);
};
struct no_strided_add : cpu {
    static void add();
};
struct no_gather : cpu {
    static void gather();
};
struct no_segments : cpu {
    static void combine_segments();
};
struct no_flat_indices : cpu {
    static void flat_indices();
};
struct no_gather_rows : cpu {
    static void gather_rows();
};
struct no_rows : cpu {
    static void rows();
};
struct no_convolution : cpu {
    static void convolve_filter();
};
struct no_matrices : cpu {
    static void matrices();
};
struct no_transform : cpu {
    static void transform();
};
struct no_quantized : cpu {
    static void quantized_convolve();
};
struct no_pool : cpu {
    static void max_pool_gather();
};
struct no_update_rows : cpu {
    static void update_rows();
};
struct other_check : cpu { // there, but it tells the host what it found
    template <class T, class Accepts>
    static index_t check(const execution_context&, const T*, index_t, const Accepts&, const error_site&);
};
struct update_by_value : cpu { // constants that the host reads
    template <class F, class T, std::size_t S, std::size_t I, std::size_t C>
    static void update(const execution_context&, index_t, const std::array<T*, S>&, const std::array<const T*, I>&,
                       const std::array<T, C>&);
};
struct stream_by_value : cpu {
    template <class T> static void random_gamma(const execution_context&, index_t, random_stream, double, double, T*);
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
    STATIC_REQUIRE_FALSE(device_primitives<no_segments>);
    STATIC_REQUIRE_FALSE(device_primitives<no_flat_indices>);
    STATIC_REQUIRE_FALSE(device_primitives<no_gather_rows>);
    STATIC_REQUIRE_FALSE(device_primitives<no_rows>);
    STATIC_REQUIRE_FALSE(device_primitives<no_convolution>);
    STATIC_REQUIRE_FALSE(device_primitives<no_matrices>);
    STATIC_REQUIRE_FALSE(device_primitives<no_transform>);
    STATIC_REQUIRE_FALSE(device_primitives<no_quantized>);
    STATIC_REQUIRE_FALSE(device_primitives<no_pool>);
    STATIC_REQUIRE_FALSE(device_primitives<no_update_rows>);
    STATIC_REQUIRE_FALSE(device_primitives<other_check>);
    STATIC_REQUIRE_FALSE(device_primitives<update_by_value>);
    STATIC_REQUIRE_FALSE(device_primitives<stream_by_value>);
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
}

TEST_CASE("primitives: what checks accept") {
    CHECK(index_inside<int>(3)(2));
    CHECK_FALSE(index_inside<int>(3)(3));
    CHECK_FALSE(index_inside<std::int64_t>(3)(-1));
    CHECK(index_inside<int>(index_t(1) << 40)(std::numeric_limits<int>::max()));
    CHECK_FALSE(index_inside<int>(index_t(1) << 40)(-1));
    CHECK(index_below<int>(3)(-7));
    CHECK_FALSE(index_below<std::int64_t>(3)(3));
    CHECK(finite_number()(1.f));
    CHECK_FALSE(finite_number()(std::numeric_limits<double>::quiet_NaN()));
    CHECK_FALSE(finite_number()(-std::numeric_limits<float>::infinity()));
}
