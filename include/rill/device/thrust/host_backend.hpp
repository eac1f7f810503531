// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The back ends of the Thrust device that run on threads of the host: Thrust's CPP system, and its OMP system under -fopenmp.

#if !defined(__CUDACC__) && !defined(THRUST_DEVICE_SYSTEM)
#define THRUST_DEVICE_SYSTEM THRUST_DEVICE_SYSTEM_CPP // Thrust's own switch: without CUDA its headers need it
#endif

#include <optional>
#include <utility>
#include <variant>

#include <thrust/find.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/sort.h>
#include <thrust/system/cpp/execution_policy.h>
#ifdef _OPENMP
#include <thrust/system/omp/execution_policy.h>
#endif

#include <rill/core/dims.hpp>
#include <rill/device/execution_context.hpp>
#include <rill/device/kernel.hpp>
#include <rill/device/numbers.hpp>
#include <rill/device/thrust/host_recorder.hpp>
#include <rill/device/thrust/launch.hpp>
#include <rill/device/thrust/lines.hpp>
#include <rill/device/thrust/products.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// A predicate that returns true if f refuses no element at an index.
template <class F> struct accepts_index {
    F find;
    bool operator()(index_t i) const { return find(i).at < 0; }
};

} // namespace detail

/// Thrust's CPP system: one thread.
struct cpp_system {
    static auto policy() { return thrust::cpp::par; }
    static void gather_sticky_errors() {}
};

#ifdef _OPENMP
/// Thrust's OMP system: the threads of OpenMP.
struct omp_system {
    static auto policy() { return thrust::omp::par; }
    /// Moves the sticky errors of all threads to the caller's.
    static void gather_sticky_errors() {
        unsigned found = 0;
#pragma omp parallel reduction(| : found)
        found |= std::exchange(detail::sticky_errors(), 0u);
        detail::sticky_errors() |= found;
    }
};
#endif

/// A back end of thrust_device (thrust_device.hpp) whose memory is the host's.
template <class System> struct host_backend {
    /// True if the device has kernels for elements of T.
    template <class T> static constexpr bool takes = true;
    /// True if host code may use the addresses returned by `at`.
    static constexpr bool runs_on_host = true;
    /// True if separate kernels for dense operands are compiled.
    static constexpr bool tells_dense = false;

    /// Returns the device's address of a block.
    template <class T> static T* at(T* p) { return p; }
    /// Returns the context for one primitive, with device addresses. Returns nothing if the run has already failed.
    static std::optional<execution_context> enter(const execution_context& on) {
        if (detail::host_recorder::current()) return on; // the replay checks it
        return on.has_failed() ? std::nullopt : std::optional(on);
    }
    /// Calls f(context), now or in the replays of a range that is being captured.
    template <class F> static void run(const execution_context& on, const F& f) {
        if (auto* const recorder = detail::host_recorder::current())
            recorder->add([on, f] {
                if (!on.has_failed()) f(on);
            });
        else
            f(on);
    }
    /// Selects the instance of a request while a kernel for it is bound: there is one.
    static std::monostate bind_for(const kernel_request&) { return {}; }
    /// Wraps an op's kernel so that it runs on the instance with the memory of the request.
    static kernel on_instance(kernel inner, const kernel_request&) { return inner; }

    /// Computes the elements i in [0, n) of f (run_element), in any order.
    template <class F> static void each(const execution_context& on, index_t n, const F& f) {
        run(on, [n, f](const execution_context&) {
            thrust::for_each_n(System::policy(), thrust::counting_iterator<index_t>(0), n,
                               [f](index_t i) { detail::run_element(f, i); });
        });
    }
    /// Combines the elements of each of n lines (fold_line). Lines have about `length` elements each; `layout` tells how they
    /// lie in memory.
    template <class F>
    static void fold(const execution_context& on, index_t n, index_t /*length*/, detail::line_layout, const F& f) {
        each(on, n, detail::fold_line<F>{f});
    }
    /// Computes rows i in [0, n) of f (row_function).
    template <class F> static void each_row(const execution_context& on, index_t n, const F& f) {
        each(on, n, [f](index_t i) { f.template run<detail::serial_row>(i); });
    }
    /// Computes a product by a library of the device. Returns false if no library serves it.
    template <class T> static bool multiply(const execution_context&, const detail::product_arguments<T>&) {
        return false;
    }
    /// Refuses the first element that find(i) returns, with i in [0, n).
    template <class F>
    static void refuse_first(const execution_context& on, index_t n, const F& find, const error_site& where) {
        run(on, [n, find, where = &where](const execution_context& here) {
            const thrust::counting_iterator<index_t> begin(0);
            const auto at = thrust::find_if_not(System::policy(), begin, begin + n, detail::accepts_index<F>{find});
            if (at != begin + n) here.refuse(*where, find(*at));
        });
    }
    /// Reports an integer division by zero that earlier kernels have recorded.
    template <class> static void refuse_zero_division(const execution_context& on) {
        run(on, [](const execution_context& here) {
            System::gather_sticky_errors();
            detail::refuse_zero_division(here);
        });
    }

    /// Returns the bytes of scratch memory that `sort` needs for n elements of `element` bytes.
    static constexpr std::size_t sort_scratch(index_t, std::size_t) { return 0; }
    /// Sorts n elements; equal ones keep their order.
    template <class T, class Less>
    static void sort(const execution_context& on, T* first, index_t n, const Less& less, void*) {
        run(on, [first, n, less](const execution_context&) {
            thrust::stable_sort(System::policy(), first, first + n, less);
        });
    }
};

}} // namespace rill::RILL_ABI
