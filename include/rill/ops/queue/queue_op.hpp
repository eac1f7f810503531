// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include <rill/core/shared.hpp>
#include <rill/ops/state/resource_op.hpp>
#include <rill/resources/element_queue.hpp>

// Shared parts of the queue ops.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Visits the dtype and shape of each component of a queue's elements, as fields.
void visit_components(std::vector<tensor_type>& all, field_visitor& visit);

inline std::shared_ptr<element_queue> queue_of(const kernel_args& a) { return resource_of<element_queue>(a); }
/// Returns the queue of the handle. Throws invalid_argument if its components do not fit, before anything is taken.
inline std::shared_ptr<element_queue> queue_of(const kernel_args& a, std::span<const tensor_type> components) {
    auto queue = queue_of(a);
    require_components(queue->named(), queue->components(), components);
    return queue;
}
/// Returns the operands after the handle, borrowed or taken over.
std::vector<any_array> components_given(const std::vector<tensor_type>& inputs, const kernel_args& a);
/// Throws invalid_argument if the operands after the handle do not fit the components, or batches of them.
void check_components(std::span<const tensor_type> inputs, std::span<const tensor_type> components, bool batch);

/// Returns the queue of a node, made on first use.
std::shared_ptr<resource> make_queue(kernel_request& r, const resource_name& place, queue_traits traits);

/// Adds the node of a queue, named by its kind unless a name is given.
template <class Op>
any_tensor add_queue(const queue_traits& traits, const std::string& shared_name, const std::string& name,
                     const std::source_location& where) {
    Op op;
    op.traits = traits;
    return add_resource(std::move(op), shared_name, name, where);
}

/// The base of the ops that make queues. `Self` gives the op's name, and sets the traits of its kind in `settle`.
template <class Self> struct queue_maker : resource_maker {
    queue_traits traits;

    std::vector<tensor_type> outputs(std::span<const tensor_type>) const {
        all_traits().check();
        return handle_type();
    }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return handle_kernel<D>(make_queue(r, place, all_traits()));
    }
    static void common_fields(auto& op, auto& visit) {
        visit_components(op.traits.components, visit);
        visit("capacity", op.traits.capacity);
        place_fields(op, visit);
    }

private:
    queue_traits all_traits() const {
        auto all = traits;
        all.kind = Self::name;
        Self::settle(all);
        return all;
    }
};

/// The base of the ops that use a queue: the handle is their first input.
struct queue_user : resource_user {
    static constexpr auto no_gradient = "gradients end at a queue";
};

/// The base of the ops that enqueue one element, or a batch of them.
template <bool Batch> struct queue_giver : queue_user {
    static constexpr int least_inputs = 2;
    static constexpr bool is_async = true, takes_ownership = !Batch;
    std::vector<tensor_type> components;

    static void fields(auto& op, auto& visit) { visit_components(op.components, visit); }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const {
        check_components(in, components, Batch);
        return {};
    }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return kernel([types = std::vector<tensor_type>(r.inputs.begin(), r.inputs.end())](const kernel_args& a) {
            queue_of(a)->enqueue(components_given(types, a), Batch, *a.wait);
        });
    }
};

/// Returns the types of a batch of the components. Its length is dyn if `count` is null.
std::vector<tensor_type> batched(std::span<const tensor_type> components, const any_array* count);

/// The base of the ops that dequeue a batch: of the requested length or, if UpTo, of at most that length.
template <bool UpTo> struct queue_taker : queue_user {
    static constexpr int inputs = 2; // the handle, the number
    static constexpr bool is_async = true, has_dynamic_outputs = true, consumes = true;
    std::vector<tensor_type> components;

    static void fields(auto& op, auto& visit) { visit_components(op.components, visit); }
    input_list host_inputs() const { return {0, 1}; }
    std::vector<tensor_type> outputs(const known_inputs& in) const {
        check_count_operand(in.types[1], "the number of elements");
        return batched(components, UpTo ? nullptr : in.value(1));
    }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return kernel([all = components, type = r.inputs[1].type](const kernel_args& a) {
            queue_of(a, all)->dequeue_many(count_of(type, a.in<void>(1)), UpTo, *a.wait, a.sized);
        });
    }
};

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
#include <algorithm>

#include <rill/core/shape_rules.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void visit_components(std::vector<tensor_type>& all, field_visitor& visit) {
    constexpr std::int32_t most = 1000;
    auto count = static_cast<std::int32_t>(all.size());
    visit("components", count);
    if (count < 0 || count > most) throw invalid_argument("a queue of " + std::to_string(count) + " components");
    all.resize(static_cast<std::size_t>(count));
    for (std::int32_t i = 0; i < count; ++i) {
        visit(("dtype_" + std::to_string(i)).c_str(), all[static_cast<std::size_t>(i)].type);
        visit(("shape_" + std::to_string(i)).c_str(), all[static_cast<std::size_t>(i)].shape);
    }
}

RILL_INLINE std::vector<any_array> components_given(const std::vector<tensor_type>& inputs, const kernel_args& a) {
    std::vector<any_array> all;
    all.reserve(inputs.size() - 1);
    for (std::size_t i = 1; i < inputs.size(); ++i) all.push_back(a.taken(inputs[i], static_cast<int>(i)));
    return all;
}

RILL_COLD void check_components(std::span<const tensor_type> inputs, std::span<const tensor_type> components,
                                bool batch) {
    if (inputs.size() != components.size() + 1)
        throw invalid_argument("the queue's elements have " + std::to_string(components.size()) + " components, " +
                               std::to_string(inputs.empty() ? 0 : inputs.size() - 1) + " are given");
    for (std::size_t i = 0; i < components.size(); ++i) {
        const auto& given = inputs[i + 1];
        const bool fits = given.type == components[i].type &&
                          rules::compatible(batch ? rules::slice(given.shape) : given.shape, components[i].shape) &&
                          !(batch && given.shape.known_rank() && given.shape.rank == 0);
        if (!fits)
            throw invalid_argument("component " + std::to_string(i) + " of the queue's elements is " +
                                   to_string(components[i]) + (batch ? ", no batch of them is " : ", not ") +
                                   to_string(given));
    }
}

RILL_COLD std::vector<tensor_type> batched(std::span<const tensor_type> components, const any_array* count) {
    std::vector<tensor_type> all;
    for (const auto& c : components) {
        tensor_type batch{c.type, dims{count ? std::max<index_t>(count_of(count->dtype(), count->data()), 0) : dyn}};
        if (!c.shape.known_rank()) batch.shape = c.shape;
        for (int i = 0; i < c.shape.rank; ++i) batch.shape.push(c.shape[i]);
        all.push_back(batch);
    }
    return all;
}

RILL_COLD std::shared_ptr<resource> make_queue(kernel_request& r, const resource_name& place, queue_traits traits) {
    traits.seed = traits.seed == 0 ? r.seed : r.seed_of_replica(traits.seed);
    return r.find_resource(place, traits.described(), [&](const std::string& name, allocator& memory) {
        return detail::make_shared<element_queue>(traits, name, memory);
    });
}

}}} // namespace rill::RILL_ABI::detail
#endif
