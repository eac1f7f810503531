// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/cpu/fused.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
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
    const auto compiled = the_kernels().blocks.find(spec.kernel);
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
    std::byte* out[max_operands];
    for (std::size_t i = 0; i < leaves_; ++i) leaf[i] = a.in<void>(spec_.leaves[i].input);
    for (const auto& m : means_) {
        m.by.scale(scratch + m.at, leaf[m.leaf], m.size, m.factor);
        leaf[m.leaf] = scratch + m.at;
    }
    for (std::size_t r = 0; r < results_; ++r) {
        out[r] = a.out<std::byte>(static_cast<int>(r));
        if (combiners_[r].init) combiners_[r].init(out[r], result_size_[r]);
    }
    if (layout_.total > 0) run_pieces(leaf, out, scratch);
    for (std::size_t r = 0; r < results_; ++r)
        if (mean_[r]) combiners_[r].scale(out[r], out[r], result_size_[r], factor_);
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
        combiners_.push_back(reduces && type.shape != space ? find_combiner(key_of, type.type) : combiner());
        mean_.push_back(how.reduce.how == combine::mean && combiners_.back().init);
        result_size_.push_back(type.shape.size());
        result_types.push_back(type);
    }
    layout_ = detail::plan_fused(space, leaf_types, result_types, interpreter_.has_value());
    for (std::size_t r = 0; r < results_; ++r) // a reduced result may look contiguous (a single block): still fold it
        if (combiners_[r].init && layout_.total > 0 && layout_.results[r].direct) combiners_[r] = {}, mean_[r] = 0;
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
        return std::exchange(request.scratch_bytes, request.scratch_bytes + (bytes + 63) / 64 * 64);
    };
    for (auto& m : means_) m.at = reserve(static_cast<std::size_t>(m.size) * size_of(leaf_types[m.leaf].type));
    plan_pieces(request, result_types);
}

RILL_INLINE void fused_kernel::plan_pieces(kernel_request& request, const std::vector<tensor_type>& results) {
    if (layout_.total == 0) return;
    const auto& l = layout_;
    blocks_ = (l.extent[static_cast<std::size_t>(l.outer)] + l.rows - 1) / l.rows;
    for (int d = 0; d < l.outer; ++d) blocks_ *= l.extent[static_cast<std::size_t>(d)];

    index_t reduced = 0;
    for (std::size_t r = 0; r < results_; ++r) {
        partial_.push_back(partial_bytes_);
        if (!combiners_[r].init) continue;
        reduced += result_size_[r];
        partial_bytes_ += (static_cast<std::size_t>(result_size_[r]) * size_of(results[r].type) + 63) / 64 * 64;
    }
    // each piece of a reduction has results of its own: few enough for what they cost to disappear
    constexpr index_t piece = 1 << 16, most = 64;
    pieces_ = reduced == 0 ? blocks_ : std::clamp<index_t>(std::min(l.total / piece, l.total / (8 * reduced)), 1, std::min(most, blocks_));

    // threads cost some microseconds: as long as 2^19 additions take
    const auto dear = [](const std::string& op) {
        static constexpr std::string_view cheap[] = {"Add", "Sub", "Mul", "Neg", "Square", "Relu", "Select", "Greater", "Less", "Maximum", "Minimum", "Abs"};
        return std::find(std::begin(cheap), std::end(cheap), op) == std::end(cheap);
    };
    double work = static_cast<double>(leaves_ + results_);
    for (const auto& i : spec_.body->code) work += dear(i.op) ? 8 : 1;
    if (request.pool && request.pool->threads() > 1 && pieces_ > 1 && work * static_cast<double>(l.total) >= 1 << 19) pool_ = request.pool;

    const auto reserve = [&](std::size_t bytes) { return std::exchange(request.scratch_bytes, request.scratch_bytes + bytes); };
    interpreter_at_ = l.scratch;
    own_bytes_ = l.scratch + (interpreter_ ? (interpreter_->scratch_bytes() + 63) / 64 * 64 : 0);
    own_at_ = reserve(own_bytes_ * static_cast<std::size_t>(pool_ ? pool_->threads() : 1));
    if (partial_bytes_ > 0 && pieces_ > 1) partial_at_ = reserve(partial_bytes_ * static_cast<std::size_t>(pieces_));
}

RILL_INLINE combiner fused_kernel::find_combiner(combine how, dtype type) {
    const auto found = the_kernels().combiners.find(detail::kernel_key(how == combine::mean ? "Sum" : to_string(how), type));
    if (!found)
        throw unimplemented("no kernel that combines by " + std::string(to_string(how)) + " for " +
                            std::string(to_string(type)) + " is in this program");
    return *found;
}

RILL_INLINE void fused_kernel::run_pieces(const void* const* leaf, std::byte* const* out, std::byte* scratch) const {
    const auto begin = [&](std::byte* own) {
        if (interpreter_) interpreter_->begin(own + interpreter_at_, scalars_.data(), layout_.rows * layout_.row_size);
    };
    if (!pool_) {
        std::byte* own = scratch + own_at_;
        begin(own);
        if (partial_bytes_ == 0 || pieces_ == 1) return run_blocks(0, blocks_, leaf, out, own);
        for (index_t p = 0; p < pieces_; ++p) run_piece(p, leaf, out, scratch, own);
    } else {
        // pieces of a map are blocks: taken several at a time
        const index_t together = partial_bytes_ > 0 ? 1 : std::max<index_t>(1, pieces_ / (8 * pool_->threads()));
        std::atomic<index_t> next{0};
        std::atomic<unsigned> problems{0};
        pool_->run(pool_->threads(), [&](int t) {
            index_t p = next.fetch_add(together, std::memory_order_relaxed);
            if (p >= pieces_) return;
            std::byte* own = scratch + own_at_ + own_bytes_ * static_cast<std::size_t>(t);
            begin(own);
            for (; p < pieces_; p = next.fetch_add(together, std::memory_order_relaxed)) {
                if (partial_bytes_ > 0) run_piece(p, leaf, out, scratch, own);
                else run_blocks(p, std::min(p + together, pieces_), leaf, out, own);
            }
            if (may_divide_) problems |= std::exchange(detail::sticky_errors(), 0u);
        });
        if (may_divide_) detail::sticky_errors() |= problems;
    }
    for (std::size_t r = 0; partial_bytes_ > 0 && r < results_; ++r)
        for (index_t p = 0; combiners_[r].init && p < pieces_; ++p)
            combiners_[r].merge(out[r], scratch + partial_at_ + partial_bytes_ * static_cast<std::size_t>(p) + partial_[r], result_size_[r]);
}

RILL_INLINE void fused_kernel::run_piece(index_t piece, const void* const* leaf, std::byte* const* out, std::byte* scratch,
                                         std::byte* own) const {
    std::byte* to[max_operands];
    for (std::size_t r = 0; r < results_; ++r) {
        to[r] = out[r];
        if (!combiners_[r].init) continue;
        to[r] = scratch + partial_at_ + partial_bytes_ * static_cast<std::size_t>(piece) + partial_[r];
        combiners_[r].init(to[r], result_size_[r]);
    }
    run_blocks(blocks_ * piece / pieces_, blocks_ * (piece + 1) / pieces_, leaf, to, own);
}

RILL_INLINE void fused_kernel::run_blocks(index_t begin, index_t end, const void* const* base, std::byte* const* out, std::byte* own) const {
    const auto& l = layout_;
    const void* leaf[max_operands];
    void* result[max_operands] = {};
    const auto outer = static_cast<std::size_t>(l.outer);
    const block_args args{leaf, scalars_.data(), result, masks_.data(), 0};

    // where block `begin` lies: its row, and its place in each stepped dimension
    const index_t rows_of_blocks = (l.extent[outer] + l.rows - 1) / l.rows;
    index_t row = begin % rows_of_blocks * l.rows;
    std::array<index_t, max_rank> at{};
    index_t rest = begin / rows_of_blocks;
    for (std::size_t d = outer; d-- > 0; rest /= l.extent[d]) at[d] = rest % l.extent[d];

    const auto offset = [&](const detail::operand_walk& w) {
        index_t o = row * w.stride[outer];
        for (std::size_t d = 0; d < outer; ++d) o += at[d] * w.stride[d];
        return static_cast<std::size_t>(o) * w.element;
    };
    for (index_t block = begin; block < end; ++block) {
        const index_t rows = std::min(l.rows, l.extent[outer] - row);
        for (std::size_t i = 0; i < leaves_; ++i) {
            const auto& w = l.leaves[i];
            const auto* from = static_cast<const std::byte*>(base[i]) + offset(w);
            if (w.direct) {
                leaf[i] = from;
            } else {
                if (block == begin || !w.constant) detail::lay_out(from, own + w.buffer, w, l, rows);
                leaf[i] = own + w.buffer;
            }
        }
        for (std::size_t r = 0; r < results_; ++r) {
            const auto& w = l.results[r];
            result[position_[r]] = w.direct ? out[r] + offset(w) : own + w.buffer;
        }
        auto now = args;
        now.n = rows * l.row_size;
        if (run_) run_(now);
        else interpreter_->run(now, own + interpreter_at_);
        for (std::size_t r = 0; r < results_; ++r) {
            const auto& w = l.results[r];
            if (!w.direct) detail::fold_block(out[r] + offset(w), own + w.buffer, w, l, l.outer, rows, combiners_[r]);
        }
        row += l.rows;
        if (row < l.extent[outer]) continue;
        row = 0;
        for (std::size_t d = outer; d-- > 0; at[d] = 0)
            if (++at[d] < l.extent[d]) break;
    }
}

} // namespace rill::inline RILL_ABI
