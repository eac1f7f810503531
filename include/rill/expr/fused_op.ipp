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
#include <rill/graph/op_registry.hpp>

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
    const std::string root = spec.body->code.empty() ? "identity" : detail::snake_case(spec.body->code.back().op->name);
    return spec.kind == fused_spec::form::forward ? root : root + "_grad";
}

RILL_COLD std::vector<tensor_type> fused_op::outputs(std::span<const tensor_type> in) const {
    return detail::fused_outputs(spec, in);
}

namespace detail {

RILL_COLD std::vector<tensor_type> fused_outputs(const fused_spec& spec, std::span<const tensor_type> in) {
    // a spec may come from a file
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
    if (!space.ok()) throw invalid_argument(space.broken);
    for (const auto& l : spec.leaves) {
        if (l.view.how == combine::map) continue;
        const auto viewed = rules::reduce(space.shape, l.view.axes, l.view.keep_dims);
        if (!viewed.ok()) throw invalid_argument(viewed.broken);
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
            if (!reduced.ok()) throw invalid_argument(reduced.broken);
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

/// Of every device, whatever the instruction set: bound kernels choose their block functions by themselves.
RILL_COLD void require_fused() {
    static const bool done = [] {
        register_op(op_entry_of<fused_op>());
        devices::each([]<class D>(std::type_identity<D>) {
            register_factory(D::type, fused_op::name, dtype::invalid, 0, [](const void* op, kernel_request& r) {
                return static_cast<const fused_op*>(op)->template bind<D, void>(r);
            });
            register_factory(D::type, fused_chain::name, dtype::invalid, 0, [](const void* chain, kernel_request& r) {
                return D::fused(*static_cast<const fused_chain*>(chain), r);
            });
            if constexpr (requires(const number_loop& loop, kernel_request& r) { D::fused(loop, r); })
                register_factory(D::type, number_loop::name, dtype::invalid, 0,
                                 [](const void* loop, kernel_request& r) {
                                     return D::fused(*static_cast<const number_loop*>(loop), r);
                                 });
        });
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

RILL_COLD adjoint_program differentiate(const program& p, const vector<scalar_value>& scalars,
                                        const std::vector<char>& seeded, const std::vector<std::vector<int>>& groups,
                                        const elementwise_info& addition) {
    std::vector<dtype> leaves = p.leaves;
    for (std::size_t r = 0; r < p.results.size(); ++r)
        if (seeded[r]) leaves.push_back(p.type_of(p.results[r]));
    tracer t(std::move(leaves), scalars);
    t.fix_scalars(scalars.size());

    std::vector<int> value;
    for (int i = 0; i < p.first_scalar(); ++i) value.push_back(t.leaf(i));
    for (std::size_t i = 0; i < p.scalars.size(); ++i) value.push_back(t.scalar(i));
    for (const auto& i : p.code) {
        std::vector<int> args;
        for (const int a : i.args) args.push_back(value[a]);
        value.push_back(t.emit(*i.op, i.type, std::move(args)));
    }

    std::vector<int> adjoint(value.size(), -1);
    const auto add = [&](int& to, int more) { to = to < 0 ? more : t.emit(addition, t.type_of(more), {to, more}); };
    int seed = p.first_scalar();
    for (std::size_t r = 0; r < p.results.size(); ++r)
        if (seeded[r]) add(adjoint[p.results[r]], t.leaf(seed++));
    for (std::size_t k = p.code.size(); k-- > 0;) {
        const auto& i = p.code[k];
        const std::size_t at = static_cast<std::size_t>(p.first_instruction()) + k;
        if (adjoint[at] < 0 || !is_differentiable(i.type)) continue;
        if (detail::none_of(i.args, [&](int a) { return is_differentiable(p.type_of(a)); }))
            continue; // a conversion from integers, for instance: nothing flows on
        const auto key = instruction_key(p, i);
        auto rule = the_kernels().pullbacks.find(key);
        if (!rule && load_rare_kernels()) rule = the_kernels().pullbacks.find(key);
        if (!rule) throw unimplemented("gradients: " + no_kernel_text(key + "'s pullback"));
        std::vector<int> args, parts(i.args.size(), -1);
        for (const int a : i.args) args.push_back(value[a]);
        (*rule)(&t, args.data(), value[at], adjoint[at], parts.data());
        for (std::size_t a = 0; a < parts.size(); ++a)
            if (parts[a] >= 0) add(adjoint[i.args[a]], parts[a]);
    }

    adjoint_program out;
    std::vector<int> results;
    for (const auto& group : groups) {
        int sum = -1;
        for (const int l : group)
            if (adjoint[l] >= 0) add(sum, adjoint[l]);
        out.flows.push_back(sum >= 0);
        if (sum >= 0) results.push_back(sum);
    }
    program adjoints = *t.finish(results);
    adjoints.adjoint_of = p.key;
    out.body = std::make_shared<const program>(std::move(adjoints));
    out.constants = vector<scalar_value>(std::span(t.scalars()).subspan(scalars.size()));
    return out;
}

RILL_COLD std::shared_ptr<const known_adjoint>
differentiate_once(const program_ptr& p, const vector<scalar_value>& scalars, const std::vector<char>& seeded,
                   const std::vector<std::vector<int>>& groups, const elementwise_info& add) {
    // constants in the result depend on no scalar's value, so structure, seeds and groups are the whole key
    std::string key;
    key.reserve(p->key.size() + 32);
    key.append(p->key).append("|");
    for (const char s : seeded) key += s ? '1' : '0';
    for (const auto& group : groups) {
        key += "|";
        for (const int l : group) key.append(std::to_string(l)).append(",");
    }
    constexpr std::size_t most = 1024; // a program's own are fewer; graphs that come from elsewhere have any number
    static auto& memory = *new std::pair<std::mutex, hash_map<std::string, std::shared_ptr<const known_adjoint>>>;
    {
        const std::lock_guard lock(memory.first);
        if (const auto at = memory.second.find(key); at != memory.second.end()) return at->second;
    }
    auto made = std::make_shared<known_adjoint>();
    made->made = differentiate(*p, scalars, seeded, groups, add);
    const std::lock_guard lock(memory.first);
    if (memory.second.size() >= most) memory.second.clear();
    return memory.second.try_emplace(std::move(key), std::move(made)).at->second;
}

RILL_COLD std::vector<endpoint> fused_gradient(const fused_spec& spec, const gradient_request& r) {
    struct group {
        int input;
        reduction view;
    };
    vector<group> groups;
    std::vector<std::vector<int>> members;
    for (std::size_t i = 0; i < spec.leaves.size(); ++i) {
        const auto& l = spec.leaves[i];
        if (!r.wanted[l.input] || !is_differentiable(spec.body->leaves[i])) continue;
        std::size_t g = 0;
        while (g < groups.size() && !(groups[g].input == l.input && groups[g].view == l.view)) ++g;
        if (g == groups.size()) {
            groups.push_back({l.input, l.view});
            members.emplace_back();
        }
        members[g].push_back(static_cast<int>(i));
    }
    std::vector<char> seeded;
    for (const auto& g : r.gradients) seeded.push_back(bool(g));
    const auto known = differentiate_once(spec.body, spec.scalars, seeded, members, *r.ops.add);
    const auto& derived = known->made;

    fused_spec next;
    next.body = derived.body;
    next.leaves = spec.leaves;
    next.scalars = spec.scalars;
    next.scalars.append(derived.constants);
    endpoint_list inputs = r.at.inputs;
    for (std::size_t k = 0; k < spec.results.size(); ++k)
        if (seeded[k]) {
            next.leaves.push_back({static_cast<int>(inputs.size()), spec.results[k].reduce});
            inputs.push_back(r.gradients[k]);
        }
    const bool first_order = spec.kind == fused_spec::form::forward;
    next.kind = first_order ? fused_spec::form::adjoint : fused_spec::form::program;
    std::vector<endpoint> out(r.at.inputs.size());
    vector<std::pair<std::size_t, int>> places;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        if (!derived.flows[g]) continue;
        fused_result result;
        if (groups[g].view.how == combine::map)
            result.like = groups[g].input;
        else
            result.reduce = groups[g].view;
        for (const int l : members[g]) result.mask |= 1u << (l % 32);
        places.emplace_back(next.results.size(), groups[g].input);
        next.results.push_back(result);
    }
    if (places.empty()) return out;
    const node* made = add_node(graph(*r.at.owner), known->op.of(std::move(next)), std::move(inputs));
    // An input that is also viewed as the gradient of a reduction would need the sum of two results; inputs are never
    // shared between the two views, since a seed is always appended as an input of its own.
    for (const auto& [result, input] : places) out[input] = {made, static_cast<int>(result)};
    return out;
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
        if constexpr (!std::is_same_v<T, std::string>) // of which there are no numbers
            std::fill_n(static_cast<T*>(all.mutable_data()), all.size(), bits.as<T>());
    });
    return all;
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
