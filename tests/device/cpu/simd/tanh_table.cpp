// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/simd/tanh_table.hpp>

#include <array>
#include <cmath>
#include <limits>

#include "catch.hpp"

using namespace rill;
using namespace rill::detail;

namespace test_device_cpu_tanh_table {

TEST_CASE("registers of other sizes, and doubles, go without a table") {
#if RILL_WITH_XSIMD
    CHECK(!has_tanh_table<double>);
    CHECK(has_tanh_table<float> == (RILL_ISA_LEVEL >= 3));
#endif
    SUCCEED();
}

#if RILL_WITH_XSIMD && RILL_ISA_LEVEL >= 3

constexpr int lanes = simd<float>::lanes;
using floats = std::array<float, lanes>;

floats table_of(const floats& x) {
    floats y;
    register_math::tanh_by_table<tanh_table>(simd<float>::load(x.data())).store(y.data());
    return y;
}

/// What is wrong with tanh at registers of floats, from the one with these bits on and their negatives.
struct findings {
    double worst = 0; // in units in the last place
    int above_one = 0, asymmetric = 0;

    void look_at(std::uint32_t bits, std::uint32_t step) {
        floats x, minus_x;
        for (int k = 0; k < lanes; ++k)
            x[at(k)] = std::bit_cast<float>(bits + static_cast<std::uint32_t>(k) * step), minus_x[at(k)] = -x[at(k)];
        const floats y = table_of(x), minus_y = table_of(minus_x);
        for (int k = 0; k < lanes; ++k) {
            const double exact = std::tanh(static_cast<double>(x[at(k)]));
            const double unit = std::ldexp(1.0, std::max(std::ilogb(exact), -126) - 23);
            const double error = std::fabs(static_cast<double>(y[at(k)]) - exact) / (exact < 1 ? unit : unit / 2);
            worst = error <= worst ? worst : std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
            above_one += y[at(k)] > 1;
            asymmetric += std::bit_cast<std::uint32_t>(y[at(k)]) != std::bit_cast<std::uint32_t>(-minus_y[at(k)]);
        }
    }

private:
    static std::size_t at(int k) { return static_cast<std::size_t>(k); }
};

TEST_CASE("tanh by table: floats of every exponent") {
    findings found;
    constexpr std::uint32_t infinity = 0x7f800000, step = 509;
    for (std::uint32_t bits = 1; bits < infinity - lanes * step; bits += lanes * step) found.look_at(bits, step);
    CHECK(found.worst < 1.3);
    CHECK(found.above_one == 0);
    CHECK(found.asymmetric == 0);
}

TEST_CASE("tanh by table: the floats around every border of two intervals") {
    findings found;
    constexpr float end = tanh_table::scale * tanh_table::most + tanh_table::shift;
    const auto bits = [](float x) { return std::bit_cast<std::uint32_t>(x); };
    constexpr std::uint32_t border = 1 << 20; // multiples of these bits, if not more of them, part two intervals
    for (std::uint32_t s = (bits(tanh_table::shift) / border + 1) * border; s < bits(end); s += border) {
        const std::uint32_t here = bits((std::bit_cast<float>(s) - tanh_table::shift) / tanh_table::scale);
        for (std::uint32_t back = 0; back <= 2 * lanes; back += lanes) found.look_at(here - back, 1);
    }
    found.look_at(bits(tanh_table::most) - lanes, 1);
    found.look_at(bits(tanh_table::most), 1);
    CHECK(found.worst < 1.3);
    CHECK(found.above_one == 0);
    CHECK(found.asymmetric == 0);
    // no entry serves two intervals
    constexpr std::uint32_t used = sizeof(tanh_table::rows[0]) / sizeof(float);
    constexpr std::uint32_t entry = border * 32 / used;
    CHECK(bits(end) / entry - bits(tanh_table::shift) / entry < used);
}

TEST_CASE("tanh by table: what comes back as it is") {
    constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    for (float x :
         {0.0f, std::numeric_limits<float>::denorm_min(), 1e-39f, std::numeric_limits<float>::min(), 1e-10f}) {
        floats in;
        in.fill(x);
        CHECK(table_of(in) == in);
        CHECK(!std::signbit(table_of(in)[0]));
        in.fill(-x);
        CHECK(table_of(in) == in);
        CHECK(std::signbit(table_of(in)[0]));
    }
    floats in;
    for (float x : {tanh_table::most, 10.0f, 1e10f, std::numeric_limits<float>::max(), infinity}) {
        in.fill(x);
        CHECK(table_of(in)[0] == 1);
        in.fill(-x);
        CHECK(table_of(in)[0] == -1);
    }
    in.fill(0.5f);
    in[1] = nan; // in one lane, with no trace in the others
    const floats y = table_of(in);
    for (std::size_t k = 0; k < y.size(); ++k) CHECK(std::isnan(y[k]) == (k == 1));
}

#endif

} // namespace test_device_cpu_tanh_table
