// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <type_traits>

#include <rill/config.hpp>

// LAPACK functions, if the system has them. They serve spectral decompositions, from sizes at which they beat Jacobi's methods.
// Nothing is linked: the library is loaded when a kernel is first bound to such a size.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The functions that we call, by their Fortran interface: column-major arrays, numbers by address, text lengths as last
/// arguments. A `work_size` of -1 queries the best size, which is returned in work[0].
template <class T> struct lapack_functions {
    using number = const int*;

    void (*syevd)(const char* job, const char* triangle, number n, T* a, number a_column, T* values, T* work,
                  number work_size, int* integers, number integers_size, int* info, std::size_t, std::size_t) = nullptr;
    void (*gesdd)(const char* job, number m, number n, T* a, number a_column, T* values, T* u, number u_column, T* vt,
                  number vt_column, T* work, number work_size, int* integers, int* info, std::size_t) = nullptr;
};

/// Returns the functions for float or double; null if the system has no LAPACK.
const lapack_functions<float>* find_lapack(std::type_identity<float>) noexcept;
const lapack_functions<double>* find_lapack(std::type_identity<double>) noexcept;

/// The minimum extent of a matrix that LAPACK decomposes.
inline constexpr int lapack_from = 24;

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/linalg/lapack.ipp>
#endif
