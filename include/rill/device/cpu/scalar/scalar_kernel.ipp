// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/cpu/scalar/scalar_kernel.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <rill/core/vector.hpp>
#include <rill/device/cpu/fusion/fused_stages.hpp>
#include <rill/device/cpu/scalar/scalar_frame_layout.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The kernel that scalar_kernel returns.
class number_kernel {
public:
    number_kernel(const scalar_code& code, kernel_request& request)
        : number_kernel(code, scalar_frame_layout(code), request) {}

    void operator()(const kernel_args& a) const;

private:
    struct transfer { // an input or an output
        int number;
        number_place where;
        std::size_t element;
        int lanes;
    };

    number_kernel(const scalar_code& code, scalar_frame_layout layout, kernel_request& request);

    placed_calls calls_;
    vector<transfer> loads_, stores_;
    std::size_t table_at_ = 0;
    bool may_divide_ = false;
};

RILL_COLD number_kernel::number_kernel(const scalar_code& code, scalar_frame_layout layout, kernel_request& request)
    : calls_(code, layout), may_divide_(code.may_divide) {
    for (std::size_t v = 0; v < code.values.size(); ++v)
        if (const auto& value = code.values[v]; value.where == scalar_code::home::input && value.lanes > 0)
            loads_.push_back(
                {static_cast<int>(value.number), layout[static_cast<int>(v)], value.element(), value.lanes});
    for (std::size_t r = 0; r < code.results.size(); ++r) {
        const auto& value = code.values[code.results[r]];
        stores_.push_back({static_cast<int>(r), layout[code.results[r]], value.element(), 1});
    }
    table_at_ = layout.lines(number_place::scratch) * number_place::line;
    request.scratch_bytes = table_at_ + pointer_table<void*>::bytes_aside(calls_.most_operands());
    request.microseconds = 0.01 * static_cast<double>(calls_.size());
}

RILL_INLINE void number_kernel::operator()(const kernel_args& a) const {
    auto* const scratch = a.scratch<std::byte>();
    const auto bytes = [](std::uint32_t lines) { return lines * number_place::line; };
    for (const auto& l : loads_) splat_number(scratch + bytes(l.where.at), a.in<void>(l.number), l.element, l.lanes);
    std::byte* const memory[] = {scratch, calls_.constants(), nullptr};
    pointer_table<void*> table(calls_.most_operands(), scratch + table_at_);
    void** const operand = table;
    block_args args{operand, nullptr, nullptr, nullptr, 0};
    const auto* place = calls_.places();
    for (const auto& c : calls_) {
        for (std::uint32_t k = 0; k < c.operands; ++k, ++place) operand[k] = memory[place->in] + bytes(place->at);
        args.scalar = c.scalars;
        args.result = operand + c.reads;
        args.mask = c.masks;
        args.n = c.lanes;
        c.run(args);
    }
    for (const auto& s : stores_) std::memcpy(a.out<void>(s.number), memory[s.where.in] + bytes(s.where.at), s.element);
    if (may_divide_) refuse_zero_division(a.on);
}

RILL_COLD kernel scalar_kernel(const fusion_group& group, kernel_request& request) {
    return kernel(number_kernel(make_scalar_code(group, request.outputs.size()), request));
}

}}} // namespace rill::RILL_ABI::detail
