// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/fused_op.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <mutex>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/hash_map.hpp>
#include <rill/core/host_array.hpp>
#include <rill/core/vector.hpp>
#include <rill/expr/tracer.hpp>
#include <rill/graph/op/op_registry.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_COLD std::string_view fused_op::signature() const {
    if (!spec.body) return name;
    if (spec.kind == fused_spec::form::forward && spec.body->code.size() == 1 &&
        spec.results[0].reduce.how == combine::map)
        return spec.body->code[0].op->name;
    return spec.body->key;
}

RILL_COLD std::string fused_op::label() const {
    if (!spec.body) return detail::snake_case(name);
    if (const auto how = spec.results[0].reduce.how; how != combine::map && spec.kind == fused_spec::form::forward)
        return "reduce_" + detail::snake_case(to_string(how));
    const auto root = [&]() -> std::string_view {
        if (spec.is_adjoint()) {
            const std::string_view of = spec.body->adjoint_of; // "Relu(Add($0,$1))"
            if (const auto end = of.find_first_of(" ($"); end > 0 && end < of.size() && of[end] == '(')
                return of.substr(0, end);
        }
        return spec.body->code.empty() ? "identity" : spec.body->code.back().op->name;
    }();
    return detail::snake_case(root) + (spec.kind == fused_spec::form::forward ? "" : "_grad");
}

RILL_COLD std::vector<tensor_type> fused_op::outputs(std::span<const tensor_type> in) const {
    return detail::fused_outputs(spec, in);
}

namespace detail {

RILL_COLD input_list unread_inputs(const fused_spec& spec, int first, int count) {
    input_list unread;
    if (!spec.body) return unread;
    for (int i = first; i < count; ++i) {
        bool read = false;
        for (std::size_t k = 0; !read && k < spec.leaves.size(); ++k)
            read = spec.leaves[k].input == i && spec.reads_leaf(k);
        if (!read) unread.push_back(i);
    }
    return unread;
}

RILL_COLD op_cost fused_cost(const fused_spec& spec, std::span<const tensor_type> in,
                             std::span<const tensor_type> out) {
    op_cost cost{0, total_bytes(in) + total_bytes(out)};
    if (!spec.body) return cost;
    cost.flops = spec.body->work() * static_cast<double>(fused_space(spec, in).shape.size());
    for (const int i : unread_inputs(spec, 0, static_cast<int>(in.size())))
        cost.bytes -= static_cast<double>(in[static_cast<std::size_t>(i)].bytes());
    return cost;
}

RILL_COLD std::vector<tensor_type> fused_outputs(const fused_spec& spec, std::span<const tensor_type> in) {
    // a spec that comes from a file may be invalid
    if (!spec.body) throw invalid_argument("there is no program");
    const auto missing = [&](int input) { return input >= static_cast<int>(in.size()); };
    if (detail::any_of(spec.leaves, [&](const fused_leaf& l) { return missing(l.input); }) ||
        detail::any_of(spec.results, [&](const fused_result& r) { return missing(r.like); }))
        throw invalid_argument("the program uses more than " + std::to_string(in.size()) + " inputs");
    for (std::size_t i = 0; i < spec.leaves.size(); ++i) {
        const auto& given = in[spec.leaves[i].input];
        if (given.type != spec.body->leaves[i])
            throw invalid_argument("operand " + std::to_string(i) + " must be " +
                                   std::string(to_string(spec.body->leaves[i])));
    }
    const auto space = fused_space(spec, in);
    if (!space.ok()) throw invalid_argument(space.reason());
    for (const auto& l : spec.leaves) {
        if (l.view.how == combine::map) continue;
        const auto viewed = rules::reduce(space.shape, l.view.axes, l.view.keep_dims);
        if (!viewed.ok()) throw invalid_argument(viewed.reason());
        if (!rules::compatible(viewed.shape, in[l.input].shape))
            throw invalid_argument("an input of shape " + to_string(viewed.shape) +
                                   " is expected, one number for each of " + "the groups, not " +
                                   to_string(in[l.input].shape));
    }
    std::vector<tensor_type> out;
    for (std::size_t r = 0; r < spec.results.size(); ++r) {
        const auto& result = spec.results[r];
        const dtype type = spec.body->type_of(spec.body->results[r]);
        if (result.like >= 0) {
            const auto& like = in[result.like].shape;
            const auto both = rules::broadcast(space.shape, like);
            if (!both.ok() || !rules::compatible(both.shape, space.shape))
                throw invalid_argument("elements of shape " + to_string(space.shape) + " don't add up to the shape " +
                                       to_string(like));
            out.push_back({type, like});
        } else if (result.reduce.how == combine::map) {
            out.push_back({type, space.shape});
        } else {
            const auto reduced = rules::reduce(space.shape, result.reduce.axes, result.reduce.keep_dims);
            if (!reduced.ok()) throw invalid_argument(reduced.reason());
            out.push_back({type, reduced.shape});
        }
    }
    return out;
}

RILL_COLD int input_number(endpoint_list& inputs, const endpoint& e, std::size_t first) {
    std::size_t i = first;
    while (i < inputs.size() && !(inputs[i] == e)) ++i;
    if (i == inputs.size()) inputs.push_back(e);
    return static_cast<int>(i);
}

/// Registers the factories for every device of this file.
RILL_COLD void require_fused() {
    static const bool done = [] {
        register_op(op_entry_of<fused_op>());
        devices::each([]<class D>(std::type_identity<D>) { register_fused_on<D>(); });
        return true;
    }();
    (void)done;
}

RILL_COLD op_ptr make_fused_op(fused_spec spec) { return make_op(fused_op{std::move(spec)}); }

RILL_COLD op_ptr last_fused_op::of(fused_spec spec) const {
    const std::lock_guard lock(mutex_);
    const auto* last = op_ ? &static_cast<const fused_op*>(op_->attributes())->spec : nullptr;
    if (!last || last->kind != spec.kind || !(*last == spec)) op_ = make_fused_op(std::move(spec));
    return op_;
}

RILL_COLD endpoint add_program(const graph& g, program_ptr body, vector<scalar_value> scalars, endpoint_list inputs,
                               const std::string& name, const std::source_location& where) {
    require_fused();
    fused_spec spec;
    spec.body = std::move(body);
    spec.scalars = std::move(scalars);
    for (std::size_t i = 0; i < inputs.size(); ++i) spec.leaves.push_back({static_cast<int>(i), {}});
    spec.results.resize(1);
    return {add_node(g, make_op(fused_op{std::move(spec)}), std::move(inputs), name, false, where), 0};
}

RILL_COLD scalar_value scalar_of(dtype type, double value) {
    scalar_value out;
    visit_dtype(type, [&]<class T>(std::type_identity<T>) {
        if constexpr (is_complex<T>)
            out = scalar_value(T(static_cast<typename T::value_type>(value)));
        else if constexpr (is_real_floating<T> && !std::is_arithmetic_v<T>)
            out = scalar_value(T(static_cast<float>(value)));
        else if constexpr (std::is_arithmetic_v<T>)
            out = scalar_value(static_cast<T>(value));
    });
    if (out.type != type) throw invalid_argument("no numbers of type " + std::string(to_string(type)));
    return out;
}

RILL_COLD any_array filled_array(dtype type, const dims& shape, double value) {
    const scalar_value bits = scalar_of(type, value);
    if (!shape.complete()) throw invalid_argument("fill: the shape " + to_string(shape) + " is not known");
    any_array all(type, shape);
    visit_dtype(type, [&]<class T>(std::type_identity<T>) {
        if constexpr (!std::is_same_v<T, std::string>) // strings have no numbers
            std::fill_n(static_cast<T*>(all.mutable_data()), all.size(), bits.as<T>());
    });
    return all;
}

RILL_COLD endpoint shaped_like(endpoint x, endpoint y) {
    const auto &is = type_of(x), &wanted = type_of(y);
    const bool known = is.shape.complete() && is.shape == wanted.shape;
    if (known || is.type != wanted.type || !rules::compatible(is.shape, wanted.shape))
        return x; // the consumer refuses shapes that differ
    const tracer t({is.type, wanted.type}, {});
    return add_program(graph(*x.from->owner), t.finish({t.leaf(0)}), {}, {x, y}, "shaped_like");
}

RILL_COLD endpoint filled_like(endpoint x, double value) {
    const auto& type = type_of(x);
    const graph g(*x.from->owner);
    if (type.shape.complete() && type.shape.size() <= 64)
        return {add_node(g, make_op(constant_op{filled_array(type.type, type.shape, value)}), {}), 0};
    const scalar_value bits = scalar_of(type.type, value);
    tracer t({type.type}, {bits});
    t.fix_scalars(1);
    return add_program(g, t.finish({t.scalar(0)}), {bits}, {x}, value == 0 ? "zeros_like" : "ones_like");
}

} // namespace detail

}} // namespace rill::RILL_ABI
