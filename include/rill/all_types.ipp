// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstdint>

#include <rill/all_kernels.ipp>

namespace rill { inline namespace RILL_ABI { namespace detail {

using rare_types = type_set<half, bfloat16, std::int8_t, std::int16_t, std::uint8_t, std::uint16_t, std::uint32_t,
                            std::uint64_t, std::complex<float>, std::complex<double>>;

#if RILL_COMPILED
void compile_rare_types();
#endif
RILL_INLINE void compile_rare_types() {
    rare_types::each([]<class T>(std::type_identity<T>) { compile_type<T>(); });
}

}}} // namespace rill::RILL_ABI::detail
