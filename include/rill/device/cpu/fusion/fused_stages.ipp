// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/cpu/fusion/fused_stages.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/allocator.hpp>
#include <rill/core/error.hpp>
#include <rill/core/shape_rules.hpp>
#include <rill/core/vector.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD node_function find_function(const fused_spec& spec, index_t elements) {
    const auto compiled = the_kernels().blocks.find(spec.kernel());
    const auto serves = [&](block_function f, int level) {
        return f && !block_interpreter::faster_than(*spec.body, level, elements);
    };
    if (compiled && spec.kind == fused_spec::form::adjoint && serves(compiled->adjoint, compiled->adjoint_level)) {
        const bool one = spec.results.size() == 1 && compiled->adjoint_of_one &&
                         std::popcount(spec.results[0].mask) == static_cast<int>(spec.leaves.size()) - 1;
        return {one ? compiled->adjoint_of_one : compiled->adjoint, compiled->adjoint_lanes, spec.leaves.size()};
    }
    if (compiled && spec.kind == fused_spec::form::by_result && serves(compiled->by_result, compiled->adjoint_level) &&
        static_cast<int>(spec.leaves.size()) == compiled->by_result_leaves)
        return {compiled->by_result, compiled->adjoint_lanes, static_cast<std::size_t>(compiled->leaves)};
    if (compiled && spec.kind == fused_spec::form::forward && serves(compiled->forward, compiled->level))
        return {compiled->forward, compiled->lanes, spec.results.size()};
    return {nullptr, 1, spec.results.size()};
}

RILL_COLD std::size_t node_function::place_of(const fused_spec& spec, std::size_t result) const {
    if (!run || !spec.is_adjoint()) return result;
    return static_cast<std::size_t>(std::countr_zero(spec.results[result].mask));
}

RILL_COLD fused_stages::fused_stages(const fusion_group& group, std::size_t results, index_t elements,
                                     const operand_forms& forms)
    : results_(results), leaves_(leaves_of(group)) {
    const auto* const emit = the_kernels().emit.load();
    if (const auto emitted = emit ? emit->group(group, results, elements, forms) : nullptr) {
        add_emitted(group, emitted);
    } else {
        vector<std::vector<std::size_t>> operand_of; // per member and result
        for (std::size_t k = 0; k < group.members.size(); ++k) add_stage(group, k, operand_of, elements);
    }
    for (const auto& v : values_) scalars_.push_back(v.bytes.data());
    direct_ = stages_.size() == 1 && stages_[0].run && leaf_operand_.size() == leaves_.size();
    for (std::size_t l = 0; direct_ && l < leaves_.size(); ++l) direct_ = leaf_operand_[l] == l;
    work_ += static_cast<double>(leaves_.size() + results_);
}

RILL_COLD auto fused_stages::leaves_of(const fusion_group& group) -> vector<leaf> {
    vector<leaf> all;
    for (const auto& member : group.members)
        for (std::size_t k = 0; k < member.spec->leaves.size(); ++k) {
            const auto& l = member.spec->leaves[k];
            const auto from = member.inputs[l.input];
            if (from.member >= 0 || !member.spec->reads_leaf(k)) continue;
            if (const leaf it{from.index, l.view}; !detail::contains(all, it)) all.push_back(it);
        }
    return all;
}

RILL_COLD std::vector<tensor_type> fused_stages::leaf_types(const fusion_group& group, const dims& space,
                                                            std::span<const tensor_type> inputs) {
    std::vector<tensor_type> types;
    for (const auto& leaf : leaves_of(group)) {
        auto& type = types.emplace_back(inputs[static_cast<std::size_t>(leaf.input)]);
        if (leaf.view.how != combine::map) type.shape = rules::reduce(space, leaf.view.axes, true).shape;
    }
    return types;
}

/// Adds one stage: JIT code that computes all nodes.
RILL_COLD void fused_stages::add_emitted(const fusion_group& group, block_function function) {
    emitted_ = true;
    stages_.emplace_back().run = function;
    for (std::size_t l = 0; l < leaves_.size(); ++l) leaf_operand_.push_back(static_cast<std::uint32_t>(l));
    for (const auto& member : group.members) {
        values_.append(member.spec->scalars);
        work_ += member.spec->body->work();
    }
    masks_.resize(results_);
    for (std::size_t r = 0; r < results_; ++r) placed_.push_back({r, leaves_.size() + r});
}

RILL_COLD void fused_stages::add_stage(const fusion_group& group, std::size_t k,
                                       vector<std::vector<std::size_t>>& operand_of, index_t elements) {
    const auto& member = group.members[k];
    const auto& spec = *member.spec;
    auto& s = stages_.emplace_back();
    s.first_leaf = leaf_operand_.size();
    s.first_scalar = values_.size();
    s.first_place = masks_.size();
    const auto function = find_function(spec, elements);
    s.run = function.run;
    if (!s.run) s.interpreter.emplace(spec.body);
    masks_.resize(s.first_place + function.places);
    values_.append(spec.scalars);
    for (const auto& l : spec.leaves) {
        const auto from = member.inputs[l.input];
        std::size_t operand = 0; // any operand stands in for a leaf that the program does not read
        if (from.member < 0) {
            const auto at = detail::find(leaves_, leaf{from.index, l.view});
            if (at != leaves_.end()) operand = static_cast<std::size_t>(at - leaves_.begin());
        } else {
            operand = operand_of[from.member][from.index];
            if (operand >= leaves_.size() + results_) hidden_[operand - leaves_.size() - results_].last = k;
        }
        leaf_operand_.push_back(static_cast<std::uint32_t>(operand));
    }
    auto& operands = operand_of.emplace_back();
    const bool adjoint = spec.is_adjoint() && s.run;
    for (std::size_t r = 0; r < spec.results.size(); ++r) {
        if (member.results[r] >= 0) {
            operands.push_back(leaves_.size() + static_cast<std::size_t>(member.results[r]));
        } else {
            operands.push_back(leaves_.size() + results_ + hidden_.size());
            hidden_.push_back({size_of(spec.body->type_of(spec.body->results[r])), k, k});
        }
        const auto place = s.first_place + function.place_of(spec, r);
        placed_.push_back({place, operands.back()});
        if (adjoint) masks_[place] = spec.results[r].mask;
    }
    may_divide_ = may_divide_ || divides_integers(*spec.body);
    work_ += spec.body->work();
}

RILL_COLD std::size_t fused_stages::place_buffers(std::size_t at, index_t block) {
    const auto add = [&](std::size_t bytes) { return std::exchange(at, at + aligned_size(bytes)); };
    for (auto& s : stages_)
        if (s.interpreter) s.interpreter_at = add(s.interpreter->scratch_bytes());
    read_at_ = add(pointer_table<const void*>::bytes_aside(leaf_operand_.size()));
    written_at_ = add(pointer_table<void*>::bytes_aside(masks_.size()));
    for (std::size_t h = 0; h < hidden_.size(); ++h) {
        auto& value = hidden_[h];
        // A buffer is free again after the last stage that reads its value.
        const auto taken = [&](std::size_t place) {
            return std::any_of(hidden_.begin(), hidden_.begin() + static_cast<std::ptrdiff_t>(h),
                               [&](const hidden_value& v) { return v.at == place && v.last >= value.first; });
        };
        const auto free =
            std::find_if(hidden_.begin(), hidden_.begin() + static_cast<std::ptrdiff_t>(h),
                         [&](const hidden_value& v) { return v.element >= value.element && !taken(v.at); });
        value.at = free - hidden_.begin() < static_cast<std::ptrdiff_t>(h)
                       ? free->at
                       : add(static_cast<std::size_t>(block) * value.element);
    }
    return at;
}

RILL_INLINE void fused_stages::begin(std::byte* own, index_t block) const {
    for (const auto& s : stages_)
        if (s.interpreter) s.interpreter->begin(own + s.interpreter_at, scalars_.data() + s.first_scalar, block);
}

RILL_INLINE void fused_stages::place_hidden(void** operand, std::byte* own) const {
    for (const auto& h : hidden_)
        operand[leaves_.size() + results_ + static_cast<std::size_t>(&h - hidden_.data())] = own + h.at;
}

RILL_INLINE void fused_stages::run(void* const* operand, index_t n, std::byte* own) const {
    const std::size_t reads = leaf_operand_.size(), places = masks_.size();
    pointer_table<const void*> read(reads, own + read_at_);
    pointer_table<void*> written(places, own + written_at_);
    for (std::size_t k = 0; k < reads; ++k) read[k] = operand[leaf_operand_[k]];
    for (std::size_t k = 0; k < places; ++k) written[k] = nullptr;
    for (const auto& p : placed_) written[p.place] = operand[p.operand];
    for (const auto& s : stages_) {
        const block_args args{read + s.first_leaf, scalars_.data() + s.first_scalar, written + s.first_place,
                              masks_.data() + s.first_place, n};
        if (s.run)
            s.run(args);
        else
            s.interpreter->run(args, own + s.interpreter_at);
    }
}

RILL_INLINE void fused_stages::run_direct(const void* const* read, void* const* result, index_t n,
                                          std::byte* own) const {
    pointer_table<void*> written(masks_.size(), own + written_at_);
    for (std::size_t k = 0; k < masks_.size(); ++k) written[k] = nullptr;
    for (const auto& p : placed_) written[p.place] = result[p.operand - leaves_.size()];
    stages_[0].run({read, scalars_.data(), written, masks_.data(), n});
}

}}} // namespace rill::RILL_ABI::detail
