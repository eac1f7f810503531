// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include <rill/device/cpu/simd.hpp>

#if RILL_WITH_XSIMD && RILL_ISA_LEVEL >= 3
#include <immintrin.h>
#endif

// tanh of floats where a register can be looked up in registers: a polynomial for each interval of |x|, with neither an
// exponential nor a division. Good to 1.3 units in the last place.
//
// scale |x| + shift cuts the axis where tanh needs it: its exponent and first fraction bits make intervals of one width
// up to the next power of two, of twice that width up to the one after it, and so on. The lowest of these bits choose an
// entry of the table, hence the order of the entries, which does not begin at zero. All numbers up to `most` fit into
// the table; from there on floats do not tell tanh from 1.
//
// The first row holds the points that the polynomials are developed at, the others coefficients, of minimax fits of the
// relative error. The points are floats whose tanh is all but a float, which spares the constant terms their rounding.
// At zero the polynomial is x + …: zeros and the tiniest numbers come back as they are.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

#if RILL_WITH_XSIMD && RILL_ISA_LEVEL >= 4

struct tanh_table {
    static constexpr int bytes = 64, degree = 4;
    static constexpr float most = 9.03f, scale = 1.86702f, shift = 1.14f;
    alignas(64) static constexpr float rows[degree + 2][32] = {
        {0.5278419f, 0.65118223f, 0.7962969f,   0.92777014f, 1.0591176f,  1.2077073f, 1.3223921f,  1.4729351f,
         1.6837233f, 1.9303811f,  2.180495f,    2.4884017f,  2.7314582f,  3.0035982f, 3.256497f,   3.5225484f,
         3.9067717f, 4.4927382f,  4.972321f,    5.515777f,   6.0762615f,  6.660672f,  7.0753136f,  7.768458f,
         8.664343f,  0,           0.091047116f, 0.16101472f, 0.22655872f, 0.2920426f, 0.36102173f, 0.42267475f},
        {0.48372972f, 0.5724653f, 0.66196144f, 0.72955257f, 0.7853259f,  0.8359904f,  0.8673776f,  0.9001359f,
         0.93334305f, 0.9587642f, 0.97479033f, 0.9863023f,  0.9915535f,  0.9950901f,  0.99703634f, 0.9982582f,
         0.9991919f,  0.9997496f, 0.99990404f, 0.99996763f, 0.99998945f, 0.9999967f,  0.99999857f, 0.99999964f,
         0.99999994f, 0,          0.09079637f, 0.15963753f, 0.22276035f, 0.28401375f, 0.34611368f, 0.39918137f},
        {0.7660057f,    0.6722837f,
         0.56180745f,   0.46775338f,
         0.38326347f,   0.3011201f,
         0.2476562f,    0.18975542f,
         0.12887056f,   0.08077076f,
         0.049783535f,  0.02720755f,
         0.016821502f,  0.009795518f,
         0.0059184856f, 0.0034805876f,
         0.0016153449f, 0.0005006411f,
         0.0001918914f, 6.4719476e-5f,
         2.1095462e-5f, 6.555623e-6f,
         2.860939e-6f,  7.1524784e-7f,
         1.1928977e-7f, 1,
         0.99175596f,   0.9745158f,
         0.9503778f,    0.9193362f,
         0.88020533f,   0.84065425f},
        {-0.37054095f,   -0.38485137f,   -0.37189528f,   -0.34124961f,   -0.3009847f,    -0.25173652f,   -0.21481021f,
         -0.17080615f,   -0.120279044f,  -0.07744138f,   -0.04853294f,   -0.026832122f,  -0.016680054f,  -0.009747542f,
         -0.005901555f,  -0.0034749217f, -0.0016155222f, -0.0005003224f, -0.0001920719f, -6.4774234e-5f, -2.1102083e-5f,
         -6.5482436e-6f, -2.8651211e-6f, -7.138985e-7f,  -1.1682511e-7f, 4.7880053e-6f,  -0.090047866f,  -0.15556929f,
         -0.21170622f,   -0.26110426f,   -0.30465102f,   -0.33557355f},
        {-0.07626798f,  -0.004030454f, 0.058556493f,  0.09274314f,    0.1084096f,     0.10996964f,   0.10370789f,
         0.09047788f,   0.069355726f,  0.047428455f,  0.03078513f,    0.017450409f,   0.0109743085f, 0.006461615f,
         0.00392511f,   0.0023166835f, 0.0010904034f, 0.00033927144f, 0.00012971646f, 4.3808326e-5f, 1.4317942e-5f,
         4.4321437e-6f, 1.9182596e-6f, 4.790981e-7f,  7.9431686e-8f,  -0.33383593f,   -0.32222506f,  -0.29981914f,
         -0.26955158f,  -0.2322459f,   -0.18795f,     -0.14628685f},
        {0.16049422f,    0.1275234f,     0.08522858f,    0.045631755f,   0.014435128f,    -0.0068902657f,
         -0.018806454f,  -0.024316996f,  -0.024707988f,  -0.019484228f,  -0.013371544f,   -0.008497661f,
         -0.005246522f,  -0.0031581763f, -0.0018838489f, -0.0011137201f, -0.00050973485f, -0.00017393571f,
         -6.020204e-5f,  -2.0617294e-5f, -7.0337146e-6f, -2.3925159e-6f, -8.328481e-7f,   -2.7983046e-7f,
         -5.8505723e-8f, 0.014927506f,   0.05943524f,    0.099678665f,   0.13011478f,     0.15322702f,
         0.1663791f,     0.17039222f}};

    __m512i entry;
    template <class V>
    RILL_FN explicit tanh_table(V x) : entry(in_register(shift_right(std::bit_cast<simd<std::uint32_t>>(x), 20))) {}
    RILL_FN __m512 operator[](int k) const {
        const float* row = rows[k];
        return _mm512_permutex2var_ps(_mm512_load_ps(row), entry, _mm512_load_ps(row + 16));
    }
};

#elif RILL_WITH_XSIMD && RILL_ISA_LEVEL == 3

struct tanh_table {
    static constexpr int bytes = 32, degree = 7;
    static constexpr float most = 9.03f, scale = 1.661f, shift = 1.0f;
    alignas(32) static constexpr float rows[degree + 2][8] = {
        {0.9338474f, 1.4802303f, 2.4440918f, 3.681755f, 5.3334007f, 7.768458f, 0, 0.45911312f},
        {0.73238266f, 0.90151113f, 0.9850425f, 0.99873286f, 0.9999534f, 0.99999964f, 0, 0.4293611f},
        {0.46361557f, 0.18727767f, 0.02969134f, 0.002532655f, 9.3234514e-5f, 7.153078e-7f, 1, 0.81564903f},
        {-0.3395449f, -0.16883282f, -0.029246602f, -0.002529493f, -9.337414e-5f, -7.1660185e-7f, -1.1863341e-7f,
         -0.35020798f},
        {0.09414813f, 0.08977957f, 0.018909575f, 0.0016823419f, 6.202088e-5f, 4.7650192e-7f, -0.33332577f,
         -0.12151487f},
        {0.044296272f, -0.024665635f, -0.008889596f, -0.00083605695f, -3.0384554e-5f, -2.3280175e-7f, -0.0001590001f,
         0.16891132f},
        {-0.05378893f, -0.0035589735f, 0.003127116f, 0.00032895457f, 1.2570996e-5f, 9.5483045e-8f, 0.13483906f,
         -0.014041266f},
        {0.015589141f, 0.0077974233f, -0.00070463395f, -0.00011201172f, -4.9654977e-6f, -3.8450178e-8f, -0.006855687f,
         -0.05786503f},
        {0.009337069f, -0.0038900934f, -2.36949e-6f, 3.4744095e-5f, 1.2077603e-6f, 9.826301e-9f, -0.040943697f,
         0.027072603f}};

    __m256i entry;
    template <class V>
    RILL_FN explicit tanh_table(V x) : entry(in_register(shift_right(std::bit_cast<simd<std::uint32_t>>(x), 22))) {}
    RILL_FN __m256 operator[](int k) const { return _mm256_permutevar8x32_ps(_mm256_load_ps(rows[k]), entry); }
};

#else

struct tanh_table {
    static constexpr int bytes = 0; // no register has this size
};

#endif

#if RILL_WITH_XSIMD

template <class T>
inline constexpr bool has_tanh_table = std::is_same_v<T, float> && sizeof(simd<T>) == tanh_table::bytes;

/// c[K] + c[K + 1] r + …
template <int K, class V, class Table> RILL_FN V tanh_polynomial(V r, const Table& c) {
    const V here = typename V::native(c[K]);
    if constexpr (K <= Table::degree)
        return fma(tanh_polynomial<K + 1>(r, c), r, here);
    else
        return here;
}

/// NaN, whose entry is any, passes through r.
template <class Table, class V> RILL_FN V tanh_by_table(V x) {
    const V a = smaller(V(Table::most), abs(x));
    const Table table(fma(a, V(Table::scale), V(Table::shift)));
    return tanh_polynomial<1>(a - V(typename V::native(table[0])), table) | (x & V(-0.0f));
}

#endif

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
