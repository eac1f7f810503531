// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <rill/core/program.hpp>
#include <rill/core/vector.hpp>
#include <rill/device/cpu/fusion/fused_kernel_layout.hpp>
#include <rill/device/kernel.hpp>
#include <rill/device/thrust/launch.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A fused node or fusion group as a sequence of launches over whole arrays. A node whose expression was compiled for the device is one
/// launch. Any other node, and the elementwise work of a group, is one launch if the device compiles programs at run time, else one per
/// instruction. Values between launches lie in scratch memory, which is reused after their last read. An output is written directly only
/// after the last read of an input, whose block it may share.
class launch_sequence {
public:
    launch_sequence(std::string_view device, const fusion_group& group, kernel_request& request);

    void operator()(const kernel_args& a) const;

private:
    enum class home : std::uint8_t { input, output, scratch, scalar };
    enum class action : std::uint8_t { divide, elementwise, reduce, copy };

    struct value {
        home where = home::scratch;
        dtype type = dtype::invalid;
        std::size_t at = 0; // the number of an input or output; in scratch memory: the offset
        index_t size = 0;
        launch_operand as = {};    // strides, or the scalar
        int first = -1, last = -1; // in scratch memory: the steps between which it lives
    };
    struct step {
        action what = action::elementwise;
        elementwise_launcher run = nullptr;
        program_kernel compiled = {}; // at run time, in place of `run`
        reduction_launchers reduction = {};
        std::vector<int> reads, writes; // value numbers; -1: no result
        std::vector<std::uint32_t> masks = {};
        detail::vector<scalar_value> scalars = {};
        std::array<index_t, max_rank> stride{}; // strides of a reduction's result
        index_t results = 0, count = 0;         // for a reduction, a division or a copy
        int partial = -1;                       // for a reduction: the value that holds the parts' sums
        index_t divided = 0;                    // for a division: number of elements
    };

    int add_value(value v) {
        values_.push_back(std::move(v));
        return static_cast<int>(values_.size()) - 1;
    }
    int add_temporary(dtype type, index_t size);
    int add_scalar(const scalar_value& scalar);
    void add_leaves(const fusion_group& group, const dims& space, const kernel_request& request);
    void add_member(const fusion_group& group, std::size_t k, std::vector<std::vector<int>>& results);
    /// Adds one launch for all members. Returns false if the device can't compile their program at run time.
    bool add_joined(const fusion_group& group, std::size_t outputs, std::vector<std::vector<int>>& results);
    leaf_form form_of(int number) const;
    bool add_compiled(const fused_spec& spec, const std::vector<int>& leaves, std::vector<int>& results);
    void add_program(const fused_spec& spec, const std::vector<int>& leaves, std::vector<int>& results);
    void add_output(int from, std::size_t output, const fused_result& how, const kernel_request& request);
    void add_copy(int from, int to);
    void place_outputs();
    void place_scratch(kernel_request& request);
    reduction_launchers need_reduction(combine how, dtype type) const;
    bool reads_input(const step& s) const;
    void* address(const kernel_args& a, const value& v) const;
    launch_operand operand(const kernel_args& a, int number) const;
    void copy(const execution_context& on, const step& s, launch_operand from, void* to) const;

    const device_launchers* device_;
    launch_space space_;
    std::array<index_t, max_rank> dense_{};          // strides of a dense array over the space
    fused_layout layout_;                            // layout of the leaves and results
    std::vector<std::pair<int, reduction>> leaf_of_; // the input and view of each leaf
    std::vector<int> leaf_values_;
    detail::vector<value> values_;
    detail::vector<step> steps_;
    std::vector<std::pair<int, int>> targets_; // values and their output numbers
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/thrust/launch_sequence.ipp>
#endif
