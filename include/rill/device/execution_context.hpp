// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>

#include <rill/core/dims.hpp>
#include <rill/core/error.hpp>
#include <rill/core/thread_pool.hpp>
#include <rill/device/philox.hpp>

namespace rill { inline namespace RILL_ABI {

/// An element that a data check refused: its position and its value.
struct refused_element {
    index_t at = -1;        // -1: none
    std::int64_t value = 0; // the integer, or the bits of the double for a real number

    template <class T> RILL_FN static refused_element of(index_t at, const T& v) {
        if constexpr (std::integral<T>)
            return {at, static_cast<std::int64_t>(v)};
        else
            return {at, std::bit_cast<std::int64_t>(static_cast<double>(v))};
    }
    double real() const { return std::bit_cast<double>(value); }
};

/// A description of a data check in terms of its op. A kernel owns its sites: error records keep their addresses until the run ends.
class error_site {
public:
    virtual ~error_site() = default;
    /// Returns the error of a refused element.
    virtual error describe(const refused_element& found) const = 0;
};
using error_site_ptr = std::shared_ptr<const error_site>;

/// The first data error of a run's kernels. It lies in device memory, so that the host does not wait. Kernels fill it in; the host
/// reads it at the end of the run. The first error is the one with the lowest step number.
struct error_record {
    static constexpr std::int32_t no_step = std::numeric_limits<std::int32_t>::max();

    std::int32_t step = no_step;
    const error_site* where = nullptr; // a host address; kernels only copy it
    refused_element found;

    bool is_set() const { return step != no_step; }
};

/// The surroundings of a running kernel: threads or a queue, scratch memory, random bits, and the place for errors in data. All
/// primitives take it. It stays the same in all runs of a frame.
struct execution_context {
    thread_pool* pool = nullptr;           // threads to share work with, or null
    void* stream = nullptr;                // the device's queue, if it has queues
    void* scratch = nullptr;               // memory of this run; the kernel requested its size when it was bound
    const random_stream* random = nullptr; // for a random op: the stream of this run, in the memory of the device
    error_record* errors = nullptr;        // in the memory of the device. Null: kernels throw their errors at once
    std::int32_t step = 0;                 // the kernel's number among the steps, in the order of creation

    /// Returns the same context with other scratch memory.
    execution_context with_scratch(void* memory) const {
        execution_context other = *this;
        other.scratch = memory;
        return other;
    }

    // Two functions for devices whose kernels run on threads of the host.

    /// Throws the error of a refused element. With a record, stores it there instead, unless an earlier step has failed.
    void refuse(const error_site& where, const refused_element& found) const;
    /// Returns true if the record holds an error of this step or an earlier one.
    bool has_failed() const;
};

namespace detail {

/// Locks the error records of devices whose kernels run on threads of the host.
RILL_EXPORT std::mutex& error_record_mutex();

/// Returns the error site of integer divisions by zero. Error records may keep its address.
const error_site& zero_division();

/// Reports an integer division by zero that sticky_errors() of this thread has recorded, and clears the record.
void refuse_zero_division(const execution_context& on);

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/device/execution_context.ipp>
#endif
