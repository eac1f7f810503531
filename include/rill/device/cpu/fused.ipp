// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/cpu/fused.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/error.hpp>
#include <rill/device/lane.hpp>

namespace rill::inline RILL_ABI {

namespace detail {

RILL_INLINE void lay_out(const void* from, void* to, const operand_walk& w, const fused_layout& l, index_t rows) {
    const auto go = [&]<class E>(E*) { lay_out(static_cast<const E*>(from), static_cast<E*>(to), w, l, l.outer, rows); };
    switch (w.element) {
    case 1: return go(static_cast<std::uint8_t*>(nullptr));
    case 2: return go(static_cast<std::uint16_t*>(nullptr));
    case 4: return go(static_cast<std::uint32_t*>(nullptr));
    case 8: return go(static_cast<std::uint64_t*>(nullptr));
    default: return go(static_cast<std::array<std::uint64_t, 2>*>(nullptr));
    }
}

RILL_INLINE void fold_block(std::byte* to, std::byte* from, const operand_walk& w, const fused_layout& l, int dim, index_t extent,
                       const combiner& c) {
    const auto at = static_cast<std::size_t>(dim);
    index_t below = 1;
    bool all_reduced = true;
    for (int i = dim; i < l.rank; ++i) {
        if (i > dim) below *= l.extent[static_cast<std::size_t>(i)];
        all_reduced = all_reduced && w.stride[static_cast<std::size_t>(i)] == 0;
    }
    const auto bytes = [&](index_t n) { return static_cast<std::size_t>(n) * w.element; };
    if (all_reduced) return c.fold(to, from, extent * below);
    if (dim == l.rank - 1) return c.merge(to, from, extent);
    if (w.stride[at] == 0) {
        for (index_t rows = extent; rows > 1;) {
            const index_t upper = rows / 2;
            rows -= upper;
            c.merge(from, from + bytes(rows * below), upper * below);
        }
        return fold_block(to, from, w, l, dim + 1, l.extent[at + 1], c);
    }
    for (index_t i = 0; i < extent; ++i)
        fold_block(to + bytes(i * w.stride[at]), from + bytes(i * below), w, l, dim + 1, l.extent[at + 1], c);
}

} // namespace detail

RILL_INLINE fused_kernel::fused_kernel(const fused_spec& spec, kernel_request& request) : spec_(spec) {
    const auto* compiled = the_kernels().blocks.find(spec.kernel);
    adjoint_ = spec.kind == fused_spec::form::adjoint && compiled && compiled->adjoint;
    if (adjoint_) {
        const bool one = spec.results.size() == 1 && compiled->adjoint_of_one &&
                         std::popcount(spec.results[0].mask) == static_cast<int>(spec.leaves.size()) - 1;
        run_ = one ? compiled->adjoint_of_one : compiled->adjoint;
    } else if (spec.kind == fused_spec::form::forward && compiled) {
        run_ = compiled->forward;
    }
    if (!run_) interpreter_.emplace(spec.body);
    plan(request);
}

RILL_INLINE void fused_kernel::operator()(const kernel_args& a) const {
    std::byte* scratch = a.out<std::byte>(static_cast<int>(results_));
    const void* leaf[max_operands];
    void* result[max_operands] = {};
    std::byte* out[max_operands];
    for (std::size_t i = 0; i < leaves_; ++i) leaf[i] = a.in<void>(spec_.leaves[i].input);
    for (const auto& m : means_) {
        m.by->scale(scratch + m.at, leaf[m.leaf], m.size, m.factor);
        leaf[m.leaf] = scratch + m.at;
    }
    for (std::size_t r = 0; r < results_; ++r) {
        out[r] = a.out<std::byte>(static_cast<int>(r));
        if (combiners_[r]) combiners_[r]->init(out[r], result_size_[r]);
    }
    if (interpreter_) interpreter_->begin(scratch + interpreter_at_, scalars_.data());
    if (layout_.total > 0) run_blocks(leaf, result, out, scratch);
    for (std::size_t r = 0; r < results_; ++r)
        if (mean_[r]) combiners_[r]->scale(out[r], out[r], result_size_[r], factor_);
    if (may_divide_ && (detail::sticky_errors() & detail::integer_division_by_zero)) {
        detail::sticky_errors() &= ~detail::integer_division_by_zero;
        throw invalid_argument("integer division by zero");
    }
}

RILL_INLINE void fused_kernel::plan(kernel_request& request) {
    const dims space = fused_space(spec_, request.inputs).shape;
    leaves_ = spec_.leaves.size();
    results_ = spec_.results.size();
    if (leaves_ > max_operands || results_ > max_operands)
        throw internal("fused node with more than 64 operands");
    std::vector<tensor_type> leaf_types, result_types;
    for (std::size_t i = 0; i < leaves_; ++i) {
        const auto& from = spec_.leaves[i];
        auto type = request.inputs[static_cast<std::size_t>(from.input)];
        if (from.view.how != combine::map) type.shape = rules::reduce(space, from.view.axes, true).shape;
        if (from.view.how == combine::mean) {
            const double share = static_cast<double>(type.shape.size()) / static_cast<double>(space.size());
            means_.push_back({i, find_combiner(combine::sum, type.type), type.shape.size(), share, 0});
        }
        leaf_types.push_back(type);
    }
    factor_ = 1;
    for (std::size_t r = 0; r < results_; ++r) {
        const auto& how = spec_.results[r];
        tensor_type type = request.outputs[r];
        const bool reduces = how.like >= 0 || how.reduce.how != combine::map;
        if (how.reduce.how != combine::map) {
            type.shape = rules::reduce(space, how.reduce.axes, true).shape;
            if (how.reduce.how == combine::mean)
                factor_ = static_cast<double>(type.shape.size()) / static_cast<double>(space.size());
        }
        const auto key_of = how.like >= 0 ? combine::sum : how.reduce.how;
        combiners_.push_back(reduces && type.shape != space ? find_combiner(key_of, type.type) : nullptr);
        mean_.push_back(how.reduce.how == combine::mean && combiners_.back());
        result_size_.push_back(type.shape.size());
        result_types.push_back(type);
    }
    layout_ = detail::plan_fused(space, leaf_types, result_types, interpreter_.has_value());
    for (std::size_t r = 0; r < results_; ++r) // a reduced result may look contiguous (a single block): still fold it
        if (combiners_[r] && layout_.total > 0 && layout_.results[r].direct) combiners_[r] = nullptr, mean_[r] = 0;
    for (const auto& s : spec_.scalars) scalars_.push_back(s.bytes.data());
    for (std::size_t r = 0; r < results_; ++r) {
        position_.push_back(adjoint_ ? std::countr_zero(spec_.results[r].mask) : static_cast<int>(r));
        if (adjoint_) masks_[static_cast<std::size_t>(position_.back())] = spec_.results[r].mask;
    }
    for (const auto& i : spec_.body->code) {
        const bool real = is_differentiable(i.type);
        may_divide_ = may_divide_ || (!real && (i.op == "Div" || i.op == "Mod"));
    }
    const auto reserve = [&](std::size_t bytes) {
        return std::exchange(layout_.scratch, layout_.scratch + (bytes + 63) / 64 * 64);
    };
    for (auto& m : means_) m.at = reserve(static_cast<std::size_t>(m.size) * size_of(leaf_types[m.leaf].type));
    if (interpreter_) interpreter_at_ = reserve(interpreter_->scratch_bytes());
    request.scratch_bytes = layout_.scratch;
}

RILL_INLINE const combiner* fused_kernel::find_combiner(combine how, dtype type) {
    const auto* found = the_kernels().combiners.find(detail::kernel_key(how == combine::mean ? "Sum" : to_string(how), type));
    if (!found)
        throw unimplemented("no kernel that combines by " + std::string(to_string(how)) + " for " +
                            std::string(to_string(type)) + " is in this program");
    return found;
}

RILL_INLINE void fused_kernel::run_blocks(const void* const* base, void** result, std::byte* const* out, std::byte* scratch) const {
    const auto& l = layout_;
    const void* leaf[max_operands];
    const auto outer = static_cast<std::size_t>(l.outer);
    std::array<index_t, max_rank> at{};
    const block_args args{leaf, scalars_.data(), result, masks_.data(), 0};
    bool first = true;
    do {
        const auto offset = [&](const detail::operand_walk& w, index_t row) {
            index_t o = row * w.stride[outer];
            for (std::size_t d = 0; d < outer; ++d) o += at[d] * w.stride[d];
            return static_cast<std::size_t>(o) * w.element;
        };
        for (index_t row = 0; row < l.extent[outer]; row += l.rows) {
            const index_t rows = std::min(l.rows, l.extent[outer] - row);
            for (std::size_t i = 0; i < leaves_; ++i) {
                const auto& w = l.leaves[i];
                const auto* from = static_cast<const std::byte*>(base[i]) + offset(w, row);
                if (w.direct) {
                    leaf[i] = from;
                } else {
                    if (first || !w.constant) detail::lay_out(from, scratch + w.buffer, w, l, rows);
                    leaf[i] = scratch + w.buffer;
                }
            }
            for (std::size_t r = 0; r < results_; ++r) {
                const auto& w = l.results[r];
                result[position_[r]] = w.direct ? out[r] + offset(w, row) : scratch + w.buffer;
            }
            auto block = args;
            block.n = rows * l.row_size;
            if (run_) run_(block);
            else interpreter_->run(block, scratch + interpreter_at_);
            for (std::size_t r = 0; r < results_; ++r) {
                const auto& w = l.results[r];
                if (!w.direct)
                    detail::fold_block(out[r] + offset(w, row), scratch + w.buffer, w, l, l.outer, rows, *combiners_[r]);
            }
            first = false;
        }
    } while (next(at));
}

RILL_INLINE bool fused_kernel::next(std::array<index_t, max_rank>& at) const {
    for (int d = layout_.outer - 1; d >= 0; --d) {
        const auto i = static_cast<std::size_t>(d);
        if (++at[i] < layout_.extent[i]) return true;
        at[i] = 0;
    }
    return false;
}

} // namespace rill::inline RILL_ABI
