// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/cpu/linalg/lapack.hpp>

#include <rill/core/platform.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

template <class T> lapack_functions<T> load_lapack(const char* syevd, const char* gesdd) noexcept {
    lapack_functions<T> f;
    for (const char* file : {"libopenblas.so.0", "liblapack.so.3", "liblapack.dylib"})
        if (void* library = load_library(file)) {
            f.syevd = reinterpret_cast<decltype(f.syevd)>(library_function(library, syevd));
            f.gesdd = reinterpret_cast<decltype(f.gesdd)>(library_function(library, gesdd));
            if (f.syevd && f.gesdd) break;
        }
    return f;
}

RILL_INLINE const lapack_functions<float>* find_lapack(std::type_identity<float>) noexcept {
    static const auto found = load_lapack<float>("ssyevd_", "sgesdd_");
    return found.syevd && found.gesdd ? &found : nullptr;
}
RILL_INLINE const lapack_functions<double>* find_lapack(std::type_identity<double>) noexcept {
    static const auto found = load_lapack<double>("dsyevd_", "dgesdd_");
    return found.syevd && found.gesdd ? &found : nullptr;
}

}}} // namespace rill::RILL_ABI::detail
