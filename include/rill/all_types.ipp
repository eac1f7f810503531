// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>

#include <rill/all_kernels.ipp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The parts of the rare types that rill::kernels compiles in files of their own: each takes less than 2 GB.
template <std::size_t Part> struct rare_part_of;
template <> struct rare_part_of<0> : type_set<half, bfloat16> {};
template <> struct rare_part_of<1> : type_set<std::int8_t, std::int16_t, std::uint8_t> {};
template <> struct rare_part_of<2> : type_set<std::uint16_t, std::uint32_t, std::uint64_t> {};
template <> struct rare_part_of<3> : type_set<std::complex<float>, std::complex<double>> {};

struct rare_types {
    template <class F> static void each(const F& f) {
        rare_part_of<0>::each(f);
        rare_part_of<1>::each(f);
        rare_part_of<2>::each(f);
        rare_part_of<3>::each(f);
    }
};

/// What converts to T: the catalogue has those to common types.
template <class T> void compile_casts_to() {
    const auto from = []<class U>(std::type_identity<U>) { compile_primitive<cast_op<T>, U>(); };
    types::common::each(from);
    rare_types::each(from);
}

template <class Types> void compile_types() {
    Types::each([]<class T>(std::type_identity<T>) {
        each_of_type<compiler, T>();
        compile_casts_to<T>();
    });
}

#if RILL_COMPILED
void compile_rare_types();
void name_rare_casts();
#endif
#if RILL_IN_KERNELS
template <std::size_t Part> void compile_rare_part();
template <> void compile_rare_part<0>();
template <> void compile_rare_part<1>();
template <> void compile_rare_part<2>();
template <> void compile_rare_part<3>();

RILL_INLINE void compile_rare_types() {
    compile_rare_part<0>();
    compile_rare_part<1>();
    compile_rare_part<2>();
    compile_rare_part<3>();
}
#else
RILL_INLINE void compile_rare_types() { compile_types<rare_types>(); }
#endif

/// So that graphs that convert to these types can be read before their kernels are there.
RILL_INLINE void name_rare_casts() {
    rare_types::each([]<class T>(std::type_identity<T>) { register_op(elementwise_entry<cast_op<T>, T, float>()); });
}

}}} // namespace rill::RILL_ABI::detail
