// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/executor/dynamic_node.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/shape_rules.hpp>
#include <rill/core/shared.hpp>
#include <rill/core/small_vector.hpp>
#include <rill/device/array_slots.hpp>
#include <rill/device/kernel_registry.hpp>
#include <rill/graph/graph.hpp>
#include <rill/runtime/control_flow/region_kernels.hpp>
#include <rill/runtime/plan/plan.hpp>
#include <rill/runtime/segment/segment.hpp>
#include <rill/runtime/tensor_list.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

struct dynamic_node::bound {
    std::vector<tensor_type> inputs, outputs;
    std::vector<any_array> read; // values that the shape rule reads
    region_binding region;       // for nodes with bodies
    kernel run;                  // for other nodes
    std::size_t scratch = 0;
    std::function<random_stream()> next_stream; // for random ops
};

RILL_COLD dynamic_node::dynamic_node(subgraph::item it, const session_options& options,
                                     std::shared_ptr<resource_store> resources, const std::shared_ptr<placement>& where)
    : item_(std::move(it)), resources_(std::move(resources)), memory_(resources_->memory()) {
    if (item_.is_write() && !item_.origin->bodies)
        throw unimplemented(
            error_at(*item_.origin, item_.op->label(), "a dynamic node without bodies writes a variable"));
    compile_bodies(bodies_, item_, options, resources_, where);
}

/// The input values of a node that is about to run.
class given_values final : public input_values {
public:
    explicit given_values(std::span<const any_array> all) : all_(all) {}
    const any_array* value(std::size_t input) const override { return &all_[input]; }

private:
    std::span<const any_array> all_;
};

/// Returns true if two arrays of one type have equal bytes.
inline bool same_numbers(const any_array& a, const any_array& b) {
    const auto bytes = static_cast<std::size_t>(a.size()) * size_of(a.dtype());
    return bytes == 0 || std::memcmp(a.data(), b.data(), bytes) == 0;
}

RILL_COLD std::shared_ptr<const dynamic_node::bound> dynamic_node::bound_to(std::span<const any_array> given) const {
    const auto& op = *item_.op;
    small_vector<tensor_type, 4> types;
    for (const auto& in : given) types.push_back(in.type());
    const std::span<const tensor_type> inputs(types.data(), types.size());
    small_vector<const any_array*, 4> read;
    for (const int i : op.shape_inputs())
        if (i < static_cast<int>(given.size())) read.push_back(&given[static_cast<std::size_t>(i)]);
    const std::lock_guard lock(mutex_);
    const auto at = detail::find_if(bound_, [&](const auto& b) {
        return detail::equal(b->inputs, inputs) &&
               detail::equal(b->read, read, [](const any_array& a, const any_array* r) { return same_numbers(a, *r); });
    });
    if (at != bound_.end()) {
        std::rotate(bound_.begin(), at, at + 1);
        return bound_[0];
    }
    auto made = detail::make_shared<bound>();
    made->inputs.assign(inputs.begin(), inputs.end());
    for (const auto* r : read) made->read.push_back(owned_copy(*r));
    if (item_.origin->bodies) {
        made->region = bind_dynamic(item_, inputs, bodies_, memory_);
    } else {
        refuse_tensor_lists(inputs);
        const given_values values(given);
        const auto& outputs = made->outputs = op.outputs({inputs, read.empty() ? nullptr : &values, {}});
        for (const auto& t : outputs)
            if (t.shape.complete() && !t.countable())
                throw resource_exhausted(to_string(t) + " is more than memory can hold");
        const auto type = op.kernel_type(inputs, outputs);
        const auto factory = find_kernel(item_.runs_on().name, op.kernel_name(), type);
        if (!factory)
            throw unimplemented(no_kernel_text(std::string(op.name()) + " for " + std::string(to_string(type)) +
                                               (item_.memory() ? " on device " + item_.runs_on().name : "")));
        kernel_request request{inputs, outputs};
        resources_->answer(request, op, *item_.origin);
        request.space = item_.memory();
        made->run = (*factory)(op.attributes(), request);
        made->scratch = request.scratch_bytes;
        made->next_stream = std::move(request.next_stream);
    }
    bound_.insert(bound_.begin(), made);
    if (bound_.size() > kept) bound_.pop_back();
    return made;
}

RILL_COLD std::vector<any_array> dynamic_node::run_kernel(std::span<any_array> inputs, const step_context* context,
                                                          async_context* wait) const {
    const auto b = bound_to(inputs);
    if (b->region.step) return b->region.step->run_dynamic(inputs, context);
    std::vector<any_array> outputs;
    if (item_.op->has_dynamic_outputs())
        outputs.resize(item_.origin->outputs.size());
    else
        outputs = arrays_of(b->outputs, item_.memory(), memory_);
    array_slots slots;
    const auto unread = item_.shape_only_inputs(); // these may lie in another memory
    for (std::size_t k = 0; k < inputs.size(); ++k)
        slots.input(detail::contains(unread, static_cast<std::int32_t>(k)) ? nullptr : inputs[k].data());
    if (!item_.op->has_dynamic_outputs())
        for (auto& out : outputs) slots.output(out.mutable_data());
    const auto* space = item_.memory();
    const memory_block scratch(blocks_of(space, memory_), b->scratch);
    const auto stream = b->next_stream ? b->next_stream() : random_stream{};
    execution_context on{.pool = resources_->threads().for_ops(), .scratch = scratch.data(), .random = &stream};
    std::optional<device_block> there; // set if the kernel's memory is not the host's
    if (space && !item_.op->delivers_to_device()) {
        there.emplace(*space, 1);
        there->begin({&stream, 1});
        on.random = there->streams();
        on.errors = there->errors();
    }
    auto args = slots.args(context, on);
    args.sized = outputs.data();
    args.wait = wait;
    if (item_.op->takes_ownership()) args.given = inputs.data();
    b->run(args);
    if (const auto e = there ? there->recorded() : error_record{}; e.is_set()) {
        const error problem = e.where->describe(e.found);
        throw_error(problem.code(), problem.what());
    }
    return outputs;
}

RILL_COLD std::vector<any_array> dynamic_node::run(std::span<any_array> inputs, const step_context* context,
                                                   async_context* wait) const {
    try {
        return run_kernel(inputs, context, wait);
    } catch (...) {
        rethrow();
    }
}

RILL_COLD void dynamic_node::check(std::span<const any_array> outputs) const {
    const auto& said = item_.origin->outputs;
    if (!item_.op->has_dynamic_outputs() && !item_.origin->bodies) return;
    for (std::size_t k = 0; k < outputs.size() && k < said.size(); ++k) {
        const auto& is = outputs[k].type();
        if (outputs[k].empty()) continue; // an absent value: the branch taken does not give it
        if (is.type == said[k].type && rules::compatible(is.shape, said[k].shape)) continue;
        try {
            throw invalid_argument("output " + std::to_string(k) + " is " + to_string(is) + ", not " +
                                   to_string(said[k]));
        } catch (...) {
            rethrow();
        }
    }
}

RILL_COLD std::unique_ptr<region_driver> dynamic_node::begin(std::span<const any_array> inputs,
                                                             std::shared_ptr<const void>& keep) const {
    if (!item_.origin->bodies) return nullptr;
    try {
        const auto b = bound_to(inputs);
        keep = b;
        return b->region.step->begin(inputs);
    } catch (...) {
        rethrow();
    }
}

RILL_COLD void dynamic_node::rethrow() const {
    rethrow_described([&](const std::string& what) { return error_at(*item_.origin, item_.op->label(), what); });
}

RILL_COLD void dynamic_node::close() const {
    bodies_.each([](plan& p) { p.close(); });
    const std::lock_guard lock(mutex_);
    bound_.clear();
}

}}} // namespace rill::RILL_ABI::detail
