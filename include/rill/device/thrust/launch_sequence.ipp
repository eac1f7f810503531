// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// size: one plan of launches, made in one go

#include <rill/device/thrust/launch_sequence.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include <rill/core/allocator.hpp>
#include <rill/core/error.hpp>
#include <rill/core/small_vector.hpp>
#include <rill/device/cpu/fusion/fused_stages.hpp>
#include <rill/device/cpu/fusion/joined_program.hpp>
#include <rill/device/thrust/can_launch.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD launch_sequence::launch_sequence(std::string_view device, const fusion_group& group, kernel_request& request)
    : device_(&launchers_of(device)) {
    std::vector<tensor_type> first;
    for (const auto& from : group.members[0].inputs)
        first.push_back(request.inputs[static_cast<std::size_t>(from.index)]);
    dims space = fused_space(*group.members[0].spec, first).shape;
    if (space.size() == 1) // nodes over single numbers are in one group, whatever their ranks are
        for (const auto types :
             {std::span<const tensor_type>(request.inputs), std::span<const tensor_type>(request.outputs)})
            for (const auto& type : types)
                while (space.rank < type.shape.rank) space.push(1);
    add_leaves(group, space, request);
    std::vector<std::vector<int>> results; // per member and result: its value
    if (!add_joined(group, request.outputs.size(), results))
        for (std::size_t k = 0; k < group.members.size(); ++k) add_member(group, k, results);
    const auto each_output = [&](bool reduced) {
        for (std::size_t k = 0; k < group.members.size(); ++k)
            for (std::size_t r = 0; r < results[k].size(); ++r) {
                const auto& member = group.members[k];
                const int output = member.results[r];
                if (output < 0) continue;
                const auto& how = member.spec->results[r];
                const bool maps = (how.like < 0 && how.reduce.how == combine::map) ||
                                  layout_.results[static_cast<std::size_t>(output)].stride == dense_;
                if (maps != reduced)
                    add_output(results[k][r], static_cast<std::size_t>(output), maps ? fused_result{} : how, request);
            }
    };
    each_output(true);
    each_output(false);
    place_outputs();
    place_scratch(request);
}

RILL_COLD int launch_sequence::add_temporary(dtype type, index_t size) {
    value v;
    v.type = type;
    v.size = size;
    v.as.dense = true;
    v.as.stride = dense_;
    return add_value(std::move(v));
}

RILL_COLD int launch_sequence::add_scalar(const scalar_value& scalar) {
    value v;
    v.where = home::scalar;
    v.type = scalar.type;
    v.as.value = scalar.bytes;
    return add_value(std::move(v));
}

/// Adds the distinct leaves as values, and the divisions of those that are gradients of means.
RILL_COLD void launch_sequence::add_leaves(const fusion_group& group, const dims& space,
                                           const kernel_request& request) {
    const auto leaves = fused_stages::leaves_of(group);
    const auto types = fused_stages::leaf_types(group, space, request.inputs);
    const auto walk = [&](const dims& shape) {
        access_pattern w;
        w.stride = broadcast_strides(shape, space);
        return w;
    };
    for (const auto& type : types) layout_.leaves.push_back(walk(type.shape));
    for (const auto& type : request.outputs) layout_.results.push_back(walk(type.shape));
    for (const auto& member : group.members)
        for (std::size_t r = 0; r < member.results.size(); ++r)
            if (const auto& how = member.spec->results[r].reduce; member.results[r] >= 0 && how.how != combine::map)
                layout_.results[static_cast<std::size_t>(member.results[r])] =
                    walk(rules::reduce(space, how.axes, true).shape);
    layout_.leaves.push_back(walk(space)); // collapsed like the others: the strides of a dense array
    layout_.total = space.size();
    if (layout_.total > 0) collapse(layout_, space);
    dense_ = layout_.leaves.back().stride;
    space_.rank = layout_.rank;
    space_.extent = layout_.extent;
    space_.total = layout_.total;
    for (std::size_t k = 0; k < leaves.size(); ++k) {
        leaf_of_.emplace_back(leaves[k].input, leaves[k].view);
        value v;
        v.where = home::input;
        v.type = types[k].type;
        v.at = static_cast<std::size_t>(leaves[k].input);
        v.size = types[k].shape.size();
        v.as.stride = layout_.leaves[k].stride;
        v.as.dense = v.as.stride == dense_;
        int number = add_value(std::move(v));
        if (leaves[k].view.how == combine::mean) {
            step s;
            s.what = action::divide;
            s.reduction = need_reduction(combine::sum, types[k].type);
            if (!s.reduction.divide) // only imported graphs can contain such a node
                throw unimplemented("no mean of " + std::string(to_string(types[k].type)) + " has a gradient");
            s.divided = types[k].shape.size();
            s.count = s.divided == 0 ? 0 : space_.total / s.divided;
            s.reads = {number};
            const auto as = values_[static_cast<std::size_t>(number)].as;
            number = add_temporary(types[k].type, s.divided);
            values_[static_cast<std::size_t>(number)].as = as;
            s.writes = {number};
            steps_.push_back(std::move(s));
        }
        leaf_values_.push_back(number);
    }
}

RILL_COLD void launch_sequence::add_member(const fusion_group& group, std::size_t k,
                                           std::vector<std::vector<int>>& results) {
    const auto& member = group.members[k];
    const auto& spec = *member.spec;
    std::vector<int> leaves, made;
    for (const auto& leaf : spec.leaves) {
        const auto from = member.inputs[static_cast<std::size_t>(leaf.input)];
        if (from.member >= 0) {
            leaves.push_back(results[static_cast<std::size_t>(from.member)][static_cast<std::size_t>(from.index)]);
            continue;
        }
        const auto at = std::find(leaf_of_.begin(), leaf_of_.end(), std::pair(from.index, leaf.view));
        // a leaf that the program does not read has no value: any operand stands in for it
        leaves.push_back(at == leaf_of_.end() ? -1 : leaf_values_[static_cast<std::size_t>(at - leaf_of_.begin())]);
    }
    if (!add_compiled(spec, leaves, made)) add_program(spec, leaves, made);
    results.push_back(std::move(made));
}

RILL_COLD leaf_form launch_sequence::form_of(int number) const {
    const launch_operand& as = values_[static_cast<std::size_t>(number)].as;
    if (as.dense) return leaf_form::dense;
    const auto end = as.stride.begin() + space_.rank;
    return std::all_of(as.stride.begin(), end, [](index_t s) { return s == 0; }) ? leaf_form::single
                                                                                 : leaf_form::strided;
}

RILL_COLD bool launch_sequence::add_joined(const fusion_group& group, std::size_t outputs,
                                           std::vector<std::vector<int>>& results) {
    if (!device_->compile || space_.total == 0) return false;
    if (group.members.size() == 1 && compiled_launch(*device_, *group.members[0].spec)) return false;
    program joined = join_members(group, outputs);
    if (joined.code.empty()) return false;

    step s;
    s.reads = leaf_values_;
    for (const auto& member : group.members)
        for (const auto& scalar : member.spec->scalars) s.scalars.push_back(scalar);
    const std::vector<int> numbers = std::exchange(joined.results, {}); // of the outputs
    std::vector<int> output_values;
    for (const int n : numbers) {
        const auto known = std::find(joined.results.begin(), joined.results.end(), n);
        if (n < joined.first_scalar()) {
            output_values.push_back(leaf_values_[static_cast<std::size_t>(n)]);
        } else if (n < joined.first_instruction()) {
            output_values.push_back(add_scalar(s.scalars[static_cast<std::size_t>(n - joined.first_scalar())]));
        } else if (known != joined.results.end()) {
            output_values.push_back(s.writes[static_cast<std::size_t>(known - joined.results.begin())]);
        } else {
            joined.results.push_back(n);
            s.writes.push_back(add_temporary(joined.type_of(n), space_.total));
            output_values.push_back(s.writes.back());
        }
    }
    if (joined.results.empty()) return false;
    std::vector<leaf_form> forms;
    for (const int leaf : leaf_values_) forms.push_back(form_of(leaf));
    s.compiled = device_->compile(joined, forms, space_.rank);
    if (!s.compiled) return false;
    steps_.push_back(std::move(s));
    for (const auto& member : group.members) {
        auto& made = results.emplace_back();
        for (const int output : member.results)
            made.push_back(output < 0 ? -1 : output_values[static_cast<std::size_t>(output)]);
    }
    return true;
}

/// Adds the launch of a node whose expression was compiled. Returns false if there is no such launch.
RILL_COLD bool launch_sequence::add_compiled(const fused_spec& spec, const std::vector<int>& leaves,
                                             std::vector<int>& results) {
    step s;
    s.run = compiled_launch(*device_, spec);
    if (!s.run) return false;
    const auto occurrences = static_cast<std::size_t>(device_->elementwise.find(spec.kernel())->leaves);
    const std::size_t places = spec.is_adjoint() ? occurrences : spec.results.size();
    s.reads = leaves;
    s.scalars = spec.scalars;
    s.writes.assign(places, -1);
    s.masks.assign(places, 0);
    for (std::size_t r = 0; r < spec.results.size(); ++r) {
        const auto place = spec.is_adjoint() ? static_cast<std::size_t>(std::countr_zero(spec.results[r].mask)) : r;
        results.push_back(add_temporary(spec.body->type_of(spec.body->results[r]), space_.total));
        s.writes[place] = results.back();
        s.masks[place] = spec.results[r].mask;
    }
    steps_.push_back(std::move(s));
    return true;
}

/// Adds one launch for each instruction of a program.
RILL_COLD void launch_sequence::add_program(const fused_spec& spec, const std::vector<int>& leaves,
                                            std::vector<int>& results) {
    const program& p = *spec.body;
    std::vector<int> number = leaves; // per value of the program: its number here
    for (const auto& scalar : spec.scalars) number.push_back(add_scalar(scalar));
    for (const auto& i : p.code) {
        const auto key = instruction_key(p, i);
        auto found = device_->elementwise.find(key);
        if (!found && load_rare_kernels()) found = device_->elementwise.find(key);
        if (!found || !found->forward) throw unimplemented(no_kernel_text(key));
        step s;
        s.run = found->forward;
        for (const int v : i.args) s.reads.push_back(number[static_cast<std::size_t>(v)]);
        number.push_back(add_temporary(i.type, space_.total));
        s.writes = {number.back()};
        steps_.push_back(std::move(s));
    }
    for (const int r : p.results) results.push_back(number[static_cast<std::size_t>(r)]);
}

RILL_COLD reduction_launchers launch_sequence::need_reduction(combine how, dtype type) const {
    const auto key = kernel_key(to_string(how), type);
    auto found = device_->reductions.find(key);
    if (!found && load_rare_kernels()) found = device_->reductions.find(key);
    if (!found) throw unimplemented(no_kernel_text(key));
    return *found;
}

/// Adds the step that writes an output: a reduction, or a copy, which place_outputs may remove.
RILL_COLD void launch_sequence::add_output(int from, std::size_t output, const fused_result& how,
                                           const kernel_request& request) {
    const auto& type = request.outputs[output];
    const int target = add_temporary(type.type, type.shape.size());
    targets_.emplace_back(target, static_cast<int>(output));
    if (how.like < 0 && how.reduce.how == combine::map) return add_copy(from, target);
    step s;
    s.what = action::reduce;
    const combine by = how.like >= 0 ? combine::sum : how.reduce.how;
    s.reduction = need_reduction(by, type.type);
    s.reads = {from};
    s.writes = {target};
    s.stride = layout_.results[output].stride;
    s.results = type.shape.size();
    s.count = s.results == 0 ? 0 : space_.total / s.results;
    const auto parts = [&](line_layout layout) { return reduction_parts(space_.total, s.results, layout); };
    const index_t sums = s.results * std::max(parts(line_layout::along), parts(line_layout::across));
    s.partial = add_temporary(dtype::uint8, sums * static_cast<index_t>(s.reduction.accumulator));
    steps_.push_back(std::move(s));
}

RILL_COLD void launch_sequence::add_copy(int from, int to) {
    step s;
    s.what = action::copy;
    s.reads = {from};
    s.writes = {to};
    s.results = values_[static_cast<std::size_t>(to)].size;
    steps_.push_back(std::move(s));
}

RILL_COLD bool launch_sequence::reads_input(const step& s) const {
    return std::any_of(s.reads.begin(), s.reads.end(),
                       [&](int v) { return v >= 0 && values_[static_cast<std::size_t>(v)].where == home::input; });
}

/// Lets steps write outputs directly if no later step reads an input. Other outputs are copied at the end.
RILL_COLD void launch_sequence::place_outputs() {
    std::size_t last_read = 0;
    for (std::size_t k = 0; k < steps_.size(); ++k)
        if (reads_input(steps_[k])) last_read = k;
    // a copy of a temporary is unnecessary if the step that computes it may write the output
    const auto maker = [&](int v) {
        std::size_t k = 0;
        while (std::find(steps_[k].writes.begin(), steps_[k].writes.end(), v) == steps_[k].writes.end()) ++k;
        return k;
    };
    const auto become_output = [&](int v, int output) {
        auto& of = values_[static_cast<std::size_t>(v)];
        of.where = home::output;
        of.at = static_cast<std::size_t>(output);
    };
    for (const auto& [target, output] : targets_) {
        const std::size_t k = maker(target);
        const step made = steps_[k];
        const int from = made.reads[0];
        const bool temporary =
            made.what == action::copy && from >= 0 && values_[static_cast<std::size_t>(from)].where == home::scratch;
        if (temporary && maker(from) >= last_read && steps_[maker(from)].what == action::elementwise) {
            become_output(from, output);
            steps_[k].reads.clear(); // no copy is left
            steps_[k].writes.clear();
        } else if (k >= last_read) {
            become_output(target, output);
        } else {
            value v = values_[static_cast<std::size_t>(target)];
            const int final_value = add_value(std::move(v));
            become_output(final_value, output);
            add_copy(target, final_value);
        }
    }
    erase_if(steps_, [](const step& s) { return s.what == action::copy && s.writes.empty(); });
}

/// Assigns each temporary a place in scratch memory. A place is free again after the last read of its value.
RILL_COLD void launch_sequence::place_scratch(kernel_request& request) {
    const auto lives = [&](int number, int k) {
        if (number < 0) return;
        auto& v = values_[static_cast<std::size_t>(number)];
        if (v.first < 0) v.first = k;
        v.last = k;
    };
    for (int k = 0; k < static_cast<int>(steps_.size()); ++k) {
        const auto& s = steps_[static_cast<std::size_t>(k)];
        for (const int v : s.writes) lives(v, k);
        for (const int v : s.reads) lives(v, k);
        lives(s.partial, k);
    }
    struct block {
        std::size_t at, bytes;
        int last;
    };
    std::vector<block> blocks;
    for (const auto& s : steps_) {
        std::vector<int> made = s.writes;
        made.push_back(s.partial);
        for (const int number : made) {
            if (number < 0 || values_[static_cast<std::size_t>(number)].where != home::scratch) continue;
            auto& v = values_[static_cast<std::size_t>(number)];
            const std::size_t bytes = aligned_size(static_cast<std::size_t>(v.size) * size_of(v.type));
            const auto free = std::find_if(blocks.begin(), blocks.end(),
                                           [&](const block& b) { return b.last < v.first && b.bytes >= bytes; });
            if (free == blocks.end()) {
                v.at = std::exchange(request.scratch_bytes, request.scratch_bytes + bytes);
                blocks.push_back({v.at, bytes, v.last});
            } else {
                v.at = free->at;
                free->last = v.last;
            }
        }
    }
}

RILL_INLINE void* launch_sequence::address(const kernel_args& a, const value& v) const {
    switch (v.where) {
    case home::input: return const_cast<void*>(a.in<void>(static_cast<int>(v.at)));
    case home::output: return a.out<void>(static_cast<int>(v.at));
    case home::scratch: return a.scratch<std::byte>() + v.at;
    case home::scalar: break;
    }
    return nullptr;
}

RILL_INLINE launch_operand launch_sequence::operand(const kernel_args& a, int number) const {
    if (number < 0) return {};
    const auto& v = values_[static_cast<std::size_t>(number)];
    launch_operand made = v.as;
    made.at = address(a, v);
    return made;
}

RILL_INLINE void launch_sequence::copy(const execution_context& on, const step& s, launch_operand from,
                                       void* to) const {
    if (s.results == 0) return;
    const std::size_t element = size_of(values_[static_cast<std::size_t>(s.reads[0])].type);
    if (s.results == space_.total) return device_->copy(on, space_, from, to, element);
    // the result of a reduction: its elements lie one after another
    from.stride = {1};
    device_->copy(on, {1, {s.results}, s.results}, from, to, element);
}

RILL_INLINE void launch_sequence::operator()(const kernel_args& a) const {
    small_vector<launch_operand, 4> read;
    small_vector<void*, 4> written;
    for (const auto& s : steps_) {
        read.clear();
        written.clear();
        for (const int v : s.reads) read.push_back(operand(a, v));
        for (const int v : s.writes)
            written.push_back(v < 0 ? nullptr : address(a, values_[static_cast<std::size_t>(v)]));
        switch (s.what) {
        case action::divide: s.reduction.divide(a.on, read[0].at, written[0], s.divided, s.count); break;
        case action::elementwise:
            if (const elementwise_launch args{space_, read.data(), s.scalars.data(), written.data(), s.masks.data()};
                s.compiled)
                s.compiled(a.on, args);
            else if (space_.total > 0)
                s.run(a.on, args);
            break;
        case action::reduce:
            s.reduction.run(a.on, {space_, read[0], written[0], s.stride, s.results, s.count,
                                   address(a, values_[static_cast<std::size_t>(s.partial)])});
            break;
        case action::copy: copy(a.on, s, read[0], written[0]); break;
        }
    }
}

}}} // namespace rill::RILL_ABI::detail
