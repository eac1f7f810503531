// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string_view>

#include <rill/core/program.hpp>
#include <rill/device/execution_context.hpp>
#include <rill/device/kernel_registry.hpp>
#include <rill/device/thrust/element_function.hpp>
#include <rill/device/thrust/program_source.hpp>

// Launches: functions that start one kernel over all elements of a space. Each is compiled for a structure or for a reduction type, and
// registered under the name of its device. launch_sequence (launch_sequence.hpp) combines them.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The space of a launch: extents that are walked in row-major order.
struct launch_space {
    int rank = 0;
    std::array<index_t, max_rank> extent{};
    index_t total = 0;

    /// Returns the offset of element i in an array with these strides.
    RILL_HOST_DEVICE index_t offset(index_t i, const std::array<index_t, max_rank>& stride) const {
        index_t at = 0;
        for (int d = rank - 1; d > 0; --d) {
            const index_t above = quotient(i, extent[static_cast<std::size_t>(d)]);
            at += (i - above * extent[static_cast<std::size_t>(d)]) * stride[static_cast<std::size_t>(d)];
            i = above;
        }
        return rank > 0 ? at + i * stride[0] : at;
    }
};

/// A function object that combines the elements of one line. It combines chunks in order, and the elements of each, which keeps rounding
/// errors small. F::open(i) returns line i, which has a count and elements by number.
template <class F> struct fold_line {
    static constexpr index_t chunk = 32;
    F f;
    RILL_FN void operator()(index_t i) const {
        const auto line = f.open(i);
        auto all = F::identity();
        for (index_t k = 0; k < line.count;) {
            auto part = F::identity();
            for (const index_t end = line.count - k < chunk ? line.count : k + chunk; k < end; ++k)
                part = F::merge(part, line.element(k));
            all = F::merge(all, part);
        }
        f.finish(line, all);
    }
};

/// The layout of the elements of lines in memory: either elements of one line are adjacent, or equal positions of neighbouring lines.
enum class line_layout : std::uint8_t { along, across };

/// Returns the number with these bytes.
template <class T> T scalar_from(const std::byte* bytes) {
    T value{};
    std::memcpy(&value, bytes, sizeof(T));
    return value;
}

/// An operand of a launch.
struct launch_operand {
    const void* at = nullptr;               // in the memory of the device; null: every element is `value`
    std::array<index_t, max_rank> stride{}; // over the space, in elements
    bool dense = false;                     // element i of the space lies at position i
    std::array<std::byte, 16> value{};
};

/// The arguments of an elementwise launch.
struct elementwise_launch {
    const launch_space& space;
    const launch_operand* leaf;
    const scalar_value* scalar;
    void* const* result;       // forward: one. Adjoint: one per leaf, at its first occurrence; null: not needed
    const std::uint32_t* mask; // adjoint: for each first occurrence, the set of the same leaf's occurrences
};
using elementwise_launcher = void (*)(const execution_context& on, const elementwise_launch& args);

/// The launches of one expression's structure.
struct elementwise_launchers {
    elementwise_launcher forward = nullptr, adjoint = nullptr;
    elementwise_launcher by_result = nullptr; // an adjoint that reads only the gradient and perhaps the result
    int leaves = 0;                           // leaf occurrences of the expression
    int by_result_leaves = 0;                 // leaves that by_result reads
};

/// The kernel of a program that was compiled at run time. Its arguments are those of a forward launch: leaves, scalars and results.
using program_kernel = std::function<void(const execution_context& on, const elementwise_launch& args)>;

/// A function that compiles a program for leaves of these forms over a space of this rank. It returns an empty function if the device can't.
using program_maker = program_kernel (*)(const program& p, std::span<const leaf_form> leaves, int rank);

/// The arguments of a reduction over a space.
struct reduction_launch {
    const launch_space& space;
    const launch_operand& from;
    void* to;
    std::array<index_t, max_rank> stride; // strides of the result over the space; 0 along reduced dimensions
    index_t results;                      // number of elements of the result
    index_t count;                        // the divisor of a mean
    void* partial;                        // memory for the sums of parts: reduction_parts × results accumulators
};

/// The launches of one reduction for one element type.
struct reduction_launchers {
    void (*run)(const execution_context& on, const reduction_launch& args) = nullptr;
    /// Divides n elements by a count; null if the type has no mean.
    void (*divide)(const execution_context& on, const void* from, void* to, index_t n, index_t count) = nullptr;
    std::size_t accumulator = 0; // bytes of one sum of a part
};

/// Returns the number of parts into which each result of a reduction is cut. It depends on the shape alone, so results do not depend on
/// the processor. There are enough parts to occupy a GPU. A block of threads computes a part whose elements are adjacent; otherwise one
/// thread does.
inline index_t reduction_parts(index_t total, index_t results, line_layout layout) {
    constexpr index_t least = 256; // minimum elements of a part
    if (results == 0 || total == 0) return 1;
    const index_t busy = layout == line_layout::along ? 1 << 10 : 1 << 17;
    const index_t of_result = total / results / least, wanted = busy / results;
    const index_t parts = of_result < wanted ? of_result : wanted;
    return parts < 1 ? 1 : parts;
}

/// A function that copies an operand with elements of this many bytes to a dense array.
using copy_launcher = void (*)(const execution_context& on, const launch_space& space, const launch_operand& from,
                               void* to, std::size_t element);

/// The launches of one device type.
struct RILL_EXPORT device_launchers {
    registry_table<elementwise_launchers> elementwise; // the key of a structure
    registry_table<reduction_launchers> reductions;    // "Sum/float32"
    copy_launcher copy = nullptr;
    program_maker compile = nullptr; // null: an instruction of a program is a launch
};

/// Returns the launches of a device type. The table is leaked: kernels may run while statics are destroyed.
device_launchers& launchers_of(std::string_view device);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/thrust/launch.ipp>
#endif
