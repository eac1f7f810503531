// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/cpu/fusion/fused_kernel.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/allocator.hpp>
#include <rill/core/error.hpp>
#include <rill/device/cpu/scalar/scalar_kernel.hpp>
#include <rill/device/lane.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns the number of input elements per result element.
inline index_t elements_each(index_t all, index_t results) { return results == 0 ? 0 : all / results; }

RILL_COLD fusion_group alone(const fused_spec& spec, const kernel_request& request) {
    fusion_group group;
    auto& member = group.members.emplace_back();
    member.spec = &spec;
    for (int i = 0; i < static_cast<int>(request.inputs.size()); ++i) member.inputs.push_back({-1, i});
    for (int r = 0; r < static_cast<int>(spec.results.size()); ++r) member.results.push_back(r);
    return group;
}

/// Returns the group's space. All members share the space of the first member, whose inputs all come from outside.
inline dims space_of(const fusion_group& group, const kernel_request& request) {
    const auto& first = group.members[0];
    std::vector<tensor_type> in;
    for (const auto& from : first.inputs) in.push_back(request.inputs[from.index]);
    return fused_space(*first.spec, in).shape;
}

RILL_COLD fused_kernel::fused_kernel(const fusion_group& group, const dims& space, kernel_request& request)
    : leaves_(fused_stages::leaves_of(group).size()), results_(request.outputs.size()) {
    const auto leaves = fused_stages::leaf_types(group, space, request.inputs),
               results = plan_results(group, space, request);
    plan_views(group, request);
    vector<fused_operand> read, written;
    for (const auto& t : leaves) read.push_back({t});
    for (const auto& t : results) written.push_back({t});
    for (const auto& v : views_) read[v.leaf].view = &v.view;
    for (const auto& p : paddings_) written[p.result].view = &p.padding.value;
    layout_ = plan_fused(space, read, written, true);
    auto known = forms(fused_stages::leaves_of(group), request);
    stages_.emplace(group, results_, space.size(), known);
    if (!stages_->emitted()) known.splat.assign(leaves_, 0), known.summed.assign(results_, 0);
    layout_ = plan_fused(space, read, written, stages_->in_blocks(), known.splat);
    summed_ = std::move(known.summed);
    plan_means(space, leaves, request);
    for (std::size_t r = 0; r < results_; ++r) // a direct result gets one element each: nothing to fold
        if (reducers_[r].init && layout_.total > 0 && layout_.results[r].direct) reducers_[r] = {}, count_[r] = -1;
    own_bytes_ = stages_->place_buffers(layout_.scratch, layout_.rows * layout_.row_size);
    plan_wide_sums(request);
    const auto table = [](std::size_t& bytes, std::size_t n) {
        return std::exchange(bytes, bytes + aligned_size(pointer_table<void*>::bytes_aside(n)));
    };
    leaf_at_ = table(request.scratch_bytes, leaves_), out_at_ = table(request.scratch_bytes, results_);
    operand_at_ = table(own_bytes_, stages_->operands()), to_at_ = table(own_bytes_, results_);
    plan_pieces(request, results);
    at_once_ = blocks_ == 1 && stages_->is_direct() && detail::none_of(reducers_, [](auto& c) { return c.widen; });
}

RILL_COLD void fused_kernel::plan_views(const fusion_group& group, const kernel_request& request) {
    const auto bytes = [](index_t n, dtype type) {
        return static_cast<std::ptrdiff_t>(n) * static_cast<std::ptrdiff_t>(size_of(type));
    };
    const auto leaves = fused_stages::leaves_of(group);
    for (const auto& [input, view] : group.views)
        for (std::size_t i = 0; i < leaves.size(); ++i)
            if (leaves[i].input == input)
                views_.push_back({i, view, bytes(view.begin, request.inputs[static_cast<std::size_t>(input)].type)});
    for (const auto& [output, padding] : group.paddings) {
        const auto r = static_cast<std::size_t>(output);
        const auto& type = request.outputs[r];
        paddings_.push_back({r, padding, bytes(padding.value.begin, type.type), size_of(type.type), type.shape});
    }
}

RILL_COLD operand_forms fused_kernel::forms(const vector<fused_stages::leaf>& leaves,
                                            const kernel_request& request) const {
    const auto& l = layout_;
    const auto stands = [&](const access_pattern& w, int from) {
        return std::all_of(w.stride.begin() + from, w.stride.begin() + l.rank, [](index_t s) { return s == 0; });
    };
    operand_forms known{std::vector<char>(leaves_), std::vector<char>(leaves_), std::vector<char>(results_)};
    if (l.total <= 1) return known;
    const auto is_one = [&](const fused_stages::leaf& leaf) {
        if (request.constants.empty() || leaf.view.how == combine::mean) return false;
        const auto* value = request.constants[static_cast<std::size_t>(leaf.input)];
        if (!value || value->size() != 1) return false;
        return (value->dtype() == dtype::float32 && value->value<float>() == 1) ||
               (value->dtype() == dtype::float64 && value->value<double>() == 1);
    };
    for (std::size_t i = 0; i < leaves_; ++i) known.splat[i] = stands(l.leaves[i], 0);
    for (std::size_t i = 0; i < leaves_; ++i) known.ones[i] = known.splat[i] && is_one(leaves[i]);
    for (std::size_t r = 0; r < results_; ++r)
        known.summed[r] = reducers_[r].init && sums_[r] && stands(l.results[r], l.outer);
    return known;
}

RILL_INLINE void fused_kernel::operator()(const kernel_args& a) const {
    std::byte* scratch = a.scratch<std::byte>();
    pointer_table<const void*> leaf(leaves_, scratch + leaf_at_);
    pointer_table<std::byte*> out(results_, scratch + out_at_);
    for (std::size_t i = 0; i < leaves_; ++i) leaf[i] = a.in<void>(stages_->leaves()[i].input);
    for (const auto& v : views_) leaf[v.leaf] = static_cast<const std::byte*>(leaf[v.leaf]) + v.begin;
    for (const auto& m : means_) {
        m.by.divide(scratch + m.at, leaf[m.leaf], m.size, m.count);
        leaf[m.leaf] = scratch + m.at;
    }
    for (std::size_t r = 0; r < results_; ++r) {
        out[r] = reducers_[r].widen ? scratch + wide_[r].at : a.out<std::byte>(static_cast<int>(r));
        if (reducers_[r].init) reducers_[r].init(out[r], result_size_[r]);
    }
    for (const auto& p : paddings_) {
        write_padding(out[p.result], p.padding, p.shape, p.element);
        out[p.result] += p.begin;
    }
    if (at_once_)
        run_at_once(leaf, out, scratch + own_at_);
    else if (layout_.total > 0)
        run_pieces(leaf, out, scratch, shared_ ? a.on.pool : nullptr);
    for (std::size_t r = 0; r < results_; ++r)
        if (count_[r] >= 0) reducers_[r].divide(a.out<void>(static_cast<int>(r)), out[r], result_size_[r], count_[r]);
    if (stages_->may_divide()) refuse_zero_division(a.on);
}

RILL_COLD void fused_kernel::plan_means(const dims& space, std::span<const tensor_type> leaves,
                                        kernel_request& request) {
    for (std::size_t i = 0; i < leaves_; ++i) {
        if (stages_->leaves()[i].view.how != combine::mean) continue;
        const auto& type = leaves[i];
        const index_t size = type.shape.size();
        const std::size_t bytes = aligned_size(static_cast<std::size_t>(size) * size_of(type.type));
        const reducer by = find_reducer(combine::sum, type.type);
        if (!by.divide) // only imported graphs can contain such a node
            throw unimplemented("no mean of " + std::string(to_string(type.type)) + " has a gradient");
        means_.push_back({i, by, size, elements_each(space.size(), size),
                          std::exchange(request.scratch_bytes, request.scratch_bytes + bytes)});
    }
}

RILL_COLD std::vector<tensor_type> fused_kernel::plan_results(const fusion_group& group, const dims& space,
                                                              const kernel_request& request) {
    std::vector<tensor_type> types(request.outputs.begin(), request.outputs.end());
    reducers_.resize(results_), count_.resize(results_, -1), result_size_.resize(results_), sums_.resize(results_);
    for (const auto& member : group.members)
        for (std::size_t r = 0; r < member.results.size(); ++r) {
            if (member.results[r] < 0) continue;
            const auto at = static_cast<std::size_t>(member.results[r]);
            const auto& how = member.spec->results[r];
            auto& type = types[at];
            if (how.reduce.how != combine::map) type.shape = rules::reduce(space, how.reduce.axes, true).shape;
            result_size_[at] = type.shape.size();
            if (type.shape == space || (how.like < 0 && how.reduce.how == combine::map)) continue;
            reducers_[at] = find_reducer(how.like >= 0 ? combine::sum : how.reduce.how, type.type);
            sums_[at] = !reducers_[at].widen &&
                        (how.like >= 0 || how.reduce.how == combine::sum || how.reduce.how == combine::mean);
            if (how.reduce.how == combine::mean) count_[at] = elements_each(space.size(), type.shape.size());
        }
    return types;
}

RILL_COLD void fused_kernel::plan_wide_sums(kernel_request& request) {
    wide_.resize(results_);
    for (std::size_t r = 0; r < results_; ++r) {
        const auto& c = reducers_[r];
        if (!c.widen) continue;
        layout_.results[r].element = c.wide; // blocks are folded into wide elements
        const auto reserve = [&](std::size_t& bytes, index_t n) {
            return std::exchange(bytes, bytes + aligned_size(static_cast<std::size_t>(n) * c.wide));
        };
        wide_[r] = {reserve(request.scratch_bytes, result_size_[r]),
                    reserve(own_bytes_, layout_.rows * layout_.row_size)};
    }
}

RILL_COLD void fused_kernel::plan_pieces(kernel_request& request, const std::vector<tensor_type>& results) {
    if (layout_.total == 0) return;
    const auto& l = layout_;
    blocks_ = (l.extent[l.outer] + l.rows - 1) / l.rows;
    for (int d = 0; d < l.outer; ++d) blocks_ *= l.extent[d];

    index_t reduced = 0;
    for (std::size_t r = 0; r < results_; ++r) {
        partial_.push_back(partial_bytes_);
        if (!reducers_[r].init) continue;
        reduced += result_size_[r];
        const std::size_t element = reducers_[r].widen ? reducers_[r].wide : size_of(results[r].type);
        partial_bytes_ += aligned_size(static_cast<std::size_t>(result_size_[r]) * element);
    }
    // Each piece of a reduction has partial results. Pieces are few enough for the cost of merging these to vanish.
    constexpr index_t piece = 1 << 14, most = 64;
    pieces_ = reduced == 0
                  ? blocks_
                  : std::clamp<index_t>(std::min(l.total / piece, l.total / (8 * reduced)), 1, std::min(most, blocks_));

    // Waking threads costs some microseconds, about as long as 2^19 additions.
    const double additions = stages_->work() * static_cast<double>(l.total);
    request.microseconds = additions * 5e-5;
    const int threads = request.on.pool ? request.on.pool->threads() : 1;
    shared_ = request.shared = threads > 1 && pieces_ > 1 && additions >= 1 << 19;

    const auto reserve = [&](std::size_t bytes) {
        return std::exchange(request.scratch_bytes, request.scratch_bytes + bytes);
    };
    own_at_ = reserve(own_bytes_ * static_cast<std::size_t>(shared_ ? threads : 1));
    if (partial_bytes_ > 0 && pieces_ > 1) partial_at_ = reserve(partial_bytes_ * static_cast<std::size_t>(pieces_));
}

RILL_INLINE reducer fused_kernel::find_reducer(combine how, dtype type) {
    const auto key = kernel_key(to_string(how), type);
    auto found = the_kernels().reducers.find(key);
    if (!found && load_rare_kernels()) found = the_kernels().reducers.find(key);
    if (!found) throw unimplemented(no_kernel_text(key));
    return *found;
}

RILL_INLINE void fused_kernel::run_pieces(const void* const* leaf, std::byte* const* out, std::byte* scratch,
                                          thread_pool* pool) const {
    const auto begin = [&](std::byte* own) { stages_->begin(own, layout_.rows * layout_.row_size); };
    if (!pool) {
        std::byte* own = scratch + own_at_;
        begin(own);
        if (partial_bytes_ == 0 || pieces_ == 1) return run_blocks(0, blocks_, leaf, out, own);
        for (index_t p = 0; p < pieces_; ++p) run_stage(p, leaf, out, scratch, own);
    } else {
        // The pieces of a map are single blocks; threads take several at a time.
        const index_t together = partial_bytes_ > 0 ? 1 : std::max<index_t>(1, pieces_ / (8 * pool->threads()));
        std::atomic<index_t> next{0};
        std::atomic<unsigned> problems{0};
        pool->run(pool->threads(), [&](int t) {
            index_t p = next.fetch_add(together, std::memory_order_relaxed);
            if (p >= pieces_) return;
            std::byte* own = scratch + own_at_ + own_bytes_ * static_cast<std::size_t>(t);
            begin(own);
            for (; p < pieces_; p = next.fetch_add(together, std::memory_order_relaxed)) {
                if (partial_bytes_ > 0)
                    run_stage(p, leaf, out, scratch, own);
                else
                    run_blocks(p, std::min(p + together, pieces_), leaf, out, own);
            }
            if (stages_->may_divide()) problems |= std::exchange(sticky_errors(), 0u);
        });
        if (stages_->may_divide()) sticky_errors() |= problems;
    }
    for (std::size_t r = 0; partial_bytes_ > 0 && r < results_; ++r)
        for (index_t p = 0; reducers_[r].init && p < pieces_; ++p)
            reducers_[r].merge(out[r],
                               scratch + partial_at_ + partial_bytes_ * static_cast<std::size_t>(p) + partial_[r],
                               result_size_[r]);
}

RILL_INLINE void fused_kernel::run_stage(index_t piece, const void* const* leaf, std::byte* const* out,
                                         std::byte* scratch, std::byte* own) const {
    pointer_table<std::byte*> to(results_, own + to_at_);
    for (std::size_t r = 0; r < results_; ++r) {
        to[r] = out[r];
        if (!reducers_[r].init) continue;
        to[r] = scratch + partial_at_ + partial_bytes_ * static_cast<std::size_t>(piece) + partial_[r];
        reducers_[r].init(to[r], result_size_[r]);
    }
    run_blocks(blocks_ * piece / pieces_, blocks_ * (piece + 1) / pieces_, leaf, to, own);
}

RILL_INLINE void fused_kernel::run_blocks(index_t begin, index_t end, const void* const* base, std::byte* const* out,
                                          std::byte* own) const {
    const auto& l = layout_;
    pointer_table<void*> operand(stages_->operands(), own + operand_at_); // addresses of the current block
    stages_->place_hidden(operand, own);
    const auto outer = static_cast<std::size_t>(l.outer);

    // Locate block `begin`: its first row, and its index in each stepped dimension.
    const index_t rows_of_blocks = (l.extent[outer] + l.rows - 1) / l.rows;
    index_t row = begin % rows_of_blocks * l.rows;
    std::array<index_t, max_rank> at{};
    index_t rest = begin / rows_of_blocks;
    for (std::size_t d = outer; d-- > 0; rest /= l.extent[d]) at[d] = rest % l.extent[d];

    const auto offset = [&](const access_pattern& w) {
        index_t o = row * w.stride[outer];
        for (std::size_t d = 0; d < outer; ++d) o += at[d] * w.stride[d];
        return static_cast<std::size_t>(o) * w.element;
    };
    for (index_t block = begin; block < end; ++block) {
        const index_t rows = std::min(l.rows, l.extent[outer] - row);
        for (std::size_t i = 0; i < leaves_; ++i) {
            const auto& w = l.leaves[i];
            auto* from = const_cast<std::byte*>(static_cast<const std::byte*>(base[i]) + offset(w));
            if (!w.direct) {
                if (block == begin || !w.constant) materialize_broadcast(from, own + w.buffer, w, l, rows);
                from = own + w.buffer;
            }
            operand[i] = from;
        }
        for (std::size_t r = 0; r < results_; ++r) {
            const auto& w = l.results[r];
            operand[leaves_ + r] = w.direct ? out[r] + offset(w) : own + w.buffer;
        }
        stages_->run(operand, rows * l.row_size, own);
        for (std::size_t r = 0; r < results_; ++r) {
            const auto& w = l.results[r];
            if (w.direct) continue;
            std::byte* block_of = own + w.buffer;
            if (const auto& c = reducers_[r]; c.widen) {
                c.widen(own + wide_[r].buffer, block_of, rows * l.row_size);
                block_of = own + wide_[r].buffer;
            }
            fold(r, out[r] + offset(w), block_of, rows);
        }
        row += l.rows;
        if (row < l.extent[outer]) continue;
        row = 0;
        for (std::size_t d = outer; d-- > 0; at[d] = 0)
            if (++at[d] < l.extent[d]) break;
    }
}

RILL_INLINE void fused_kernel::fold(std::size_t r, std::byte* to, std::byte* block, index_t rows) const {
    if (!reducers_[r].init) return scatter_rows(to, block, layout_.results[r], layout_, layout_.outer, rows);
    if (summed_[r]) return reducers_[r].fold(to, block, 1);
    fold_block(to, block, layout_.results[r], layout_, layout_.outer, rows, reducers_[r]);
}

RILL_INLINE void fused_kernel::run_at_once(const void** leaf, std::byte* const* out, std::byte* own) const {
    for (std::size_t i = 0; i < leaves_; ++i)
        if (const auto& w = layout_.leaves[i]; !w.direct)
            materialize_broadcast(std::exchange(leaf[i], own + w.buffer), own + w.buffer, w, layout_, layout_.rows);
    pointer_table<void*> to(results_, own + to_at_);
    for (std::size_t r = 0; r < results_; ++r)
        to[r] = layout_.results[r].direct ? out[r] : own + layout_.results[r].buffer;
    stages_->run_direct(leaf, to, layout_.total, own);
    for (std::size_t r = 0; r < results_; ++r)
        if (!layout_.results[r].direct) fold(r, out[r], static_cast<std::byte*>(to[r]), layout_.rows);
}

RILL_COLD kernel fused_loops(const fused_spec& spec, kernel_request& request) {
    return fused_loops(alone(spec, request), request);
}
RILL_COLD kernel fused_loops(const fusion_group& group, kernel_request& request) {
    const dims space = space_of(group, request);
    return space.size() == 1 ? scalar_kernel(group, request) : kernel(fused_kernel(group, space, request));
}

}}} // namespace rill::RILL_ABI::detail
