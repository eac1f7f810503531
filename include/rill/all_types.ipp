// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstdint>

#include <rill/all_kernels.ipp>

namespace rill { inline namespace RILL_ABI { namespace detail {

using rare_types = type_set<half, bfloat16, std::int8_t, std::int16_t, std::uint8_t, std::uint16_t, std::uint32_t,
                            std::uint64_t, std::complex<float>, std::complex<double>>;

/// What converts to T: the catalogue has those to common types.
template <class T> void compile_casts_to() {
    const auto from = []<class U>(std::type_identity<U>) { compile_primitive<cast_op<T>, U>(); };
    types::common::each(from);
    rare_types::each(from);
}

#if RILL_COMPILED
void compile_rare_types();
void name_rare_casts();
#endif
RILL_INLINE void compile_rare_types() {
    rare_types::each([]<class T>(std::type_identity<T>) {
        each_of_type<compiler, T>();
        compile_casts_to<T>();
    });
}

/// So that graphs that convert to these types can be read before their kernels are there.
RILL_INLINE void name_rare_casts() {
    rare_types::each([]<class T>(std::type_identity<T>) { register_op(elementwise_entry<cast_op<T>, T, float>()); });
}

}}} // namespace rill::RILL_ABI::detail
