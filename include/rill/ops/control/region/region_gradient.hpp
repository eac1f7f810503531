// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/algorithm.hpp>
#include <rill/ops/control/primitives/primitives.hpp>
#include <rill/ops/control/region/body.hpp>
#include <rill/ops/control/region/body_copy.hpp>

// Gradients of region ops. The gradient of a branch is a branch; that of a loop is a scan from its last iteration to its first. Elementwise
// values of the forward run are computed again. A variant of the forward node keeps costlier values, random values and the states of a
// loop.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns gradients of a node that runs one of several bodies (cond, case), or its only one (call).
std::vector<endpoint> branch_gradient(const gradient_request& r);

/// Returns gradients of a node that runs its last body again and again. `scan` is an op whose nodes run over slices.
std::vector<endpoint> loop_gradient(const gradient_request& r, const op& scan);

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
#include <algorithm>
#include <utility>

#include <rill/graph/gradients.hpp>
#include <rill/ops/array/fill.hpp>
#include <rill/ops/array/gradient_rows.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The values among `may_be_fed` that the results of a region need.
class needed_values {
public:
    needed_values(const region* of, const std::vector<endpoint>& results, const std::vector<endpoint>& may_be_fed) {
        std::vector<endpoint> open(results);
        hash_set<const node*> seen;
        while (!open.empty()) {
            const endpoint e = open.back();
            open.pop_back();
            if (!e || e.from->inside != of) continue;
            if (detail::contains(may_be_fed, e)) {
                if (!contains(e)) needed_.push_back(e);
                continue;
            }
            if (!seen.insert(e.from)) continue;
            for (const auto& in : e.from->inputs) open.push_back(in);
        }
    }
    bool contains(const endpoint& e) const { return detail::contains(needed_, e); }

private:
    std::vector<endpoint> needed_;
};

/// Returns values of body number `which` as outputs of the node's last variant, or of a new one with them.
inline std::vector<endpoint> keep_values(const node& n, std::size_t which, const std::vector<endpoint>& values) {
    const node* last = n.owner->last_variant(&n);
    const auto& use = *n.op->regions();
    using form = region_attributes::form;
    // a loop's state outputs hold the last values only
    const int first = use.state();
    auto results = (*last->bodies)[which].results;
    std::vector<int> ports;
    for (const auto& v : values) {
        auto at = std::find(results.begin() + first, results.end(), v);
        if (at == results.end()) at = results.insert(at, v);
        ports.push_back(static_cast<int>(at - results.begin()));
    }
    if (results.size() != (*last->bodies)[which].results.size()) {
        node_spec spec;
        spec.op = last->op;
        spec.inputs = last->inputs;
        spec.control_inputs = last->control_inputs;
        spec.name = n.name;
        spec.device = last->device;
        spec.colocated = last->colocated;
        spec.where = n.where;
        spec.inside = last->inside;
        spec.bodies = *last->bodies;
        spec.bodies.first_variant = first_variant(n);
        const bool branches = use.how == form::choose;
        for (std::size_t b = 0; b < spec.bodies.size(); ++b)
            if (b == which || branches) spec.bodies[b].results.resize(results.size());
        spec.bodies[which].results = results;
        last = n.owner->add(std::move(spec));
    }
    std::vector<endpoint> kept;
    for (const int p : ports) kept.push_back({last, p});
    return kept;
}

inline bool wants(const gradient_request& r, std::size_t input) {
    return r.wanted[input] && is_differentiable(type_of(r.input(static_cast<int>(input))).type);
}

/// Returns the input numbers from `first` on with a wanted gradient. A tensor at several inputs appears once: a body's gradient by it
/// covers them all.
inline std::vector<std::size_t> distinct_inputs(const gradient_request& r, std::size_t first) {
    std::vector<std::size_t> found;
    const auto& inputs = r.at.inputs;
    for (std::size_t i = first; i < inputs.size(); ++i)
        if (wants(r, i) && detail::none_of(found, [&](std::size_t f) { return inputs[f] == inputs[i]; }))
            found.push_back(i);
    return found;
}

/// Returns gradients of a copied body's results by the xs, from the gradients `seeds` of the results. They are empty where none flows.
inline std::vector<endpoint> body_gradients(const gradient_ops& ops, const std::vector<endpoint>& ys,
                                            const std::vector<endpoint>& seeds, const std::vector<endpoint>& xs,
                                            const std::vector<endpoint>& stop) {
    if (ys.empty() || xs.empty()) return std::vector<endpoint>(xs.size());
    return add_gradients(ys, xs, seeds, stop, ops);
}

/// Returns true if e is a variable, or an identity of one. An optimizer may then use its gradient as rows.
inline bool may_be_trained(endpoint e) {
    while (op_of<identity_op>(*e.from->op)) e = e.from->inputs[0];
    return e.from->op->role() == op_role::variable;
}

/// Returns the gradient of a table that no look-up in a body reads: zero rows.
inline gradient_rows no_rows(const endpoint& table) {
    const auto none = [](dtype type, const dims& shape) {
        return constant_node(filled_array(type, shape, 0), {}).end();
    };
    const auto& [type, shape] = type_of(table);
    return {none(type, rules::gather(shape, dims{0}, 0).shape), none(dtype::int32, dims{0}), table};
}

/// Returns true if x is absent in this branch: a node with the same choice keeps x for another branch.
inline bool leaves_to_others(const node& n, std::size_t which, const endpoint& x) {
    const auto* use = x.from->op->regions();
    const bool chosen_alike = use && use->how == region_attributes::form::choose &&
                              n.op->regions()->how == region_attributes::form::choose &&
                              x.from->inputs[0] == n.inputs[0] && x.from->bodies->size() == n.bodies->size();
    return chosen_alike && !(*x.from->bodies)[which].results[static_cast<std::size_t>(x.port)];
}

/// Returns true if ids have the same extents in each iteration, so that they can be stacked. Neither data nor a state of dynamic extents
/// may determine them. `slices` are arguments of the body whose extents stay the same.
inline bool keeps_extents(const endpoint& ids, std::span<const endpoint> slices) {
    std::vector<endpoint> open{ids};
    hash_set<const node*> seen;
    while (!open.empty()) {
        const endpoint e = open.back();
        open.pop_back();
        const node& n = *e.from;
        if (type_of(e).shape.complete() || n.inside != scopes().inside || detail::contains(slices, e)) continue;
        if (!seen.insert(&n)) continue;
        if (n.inputs.empty() || n.bodies || n.op->has_dynamic_outputs() || !n.op->shape_inputs().empty()) return false;
        for (const auto& in : n.inputs) open.push_back(in);
    }
    return true;
}

RILL_INLINE std::vector<endpoint> branch_gradient(const gradient_request& r) {
    const node& n = r.at;
    auto use = *n.op->regions();
    const bool call = use.how == region_attributes::form::call;
    const auto wanted = distinct_inputs(r, 0);
    std::vector<endpoint> xs;
    for (const std::size_t i : wanted) xs.push_back(n.inputs[i]);
    const std::vector<endpoint> stop(n.inputs.begin(), n.inputs.end());

    const graph g(*n.owner);
    region_node_scope scope(g, std::string(n.op->label()) + "_gradient");
    struct branch {
        body_copy copy;
        traced_body made;
        std::vector<char> left; // per x: absent in this branch
        vector<gradient_rows> rows = {};
    };
    vector<branch> branches;
    for (std::size_t which = 0; which < n.bodies->size(); ++which) {
        const auto& b = (*n.bodies)[which];
        branches.push_back({body_copy(b, use.recompute), {}, std::vector<char>(xs.size())});
        auto& [copy, made, left, rows] = branches.back();
        for (std::size_t a = 0; a < b.arguments.size(); ++a) copy.map(b.arguments[a], n.inputs[a]);
        for (std::size_t c = 0; c < b.captures.size(); ++c) copy.map(b.captures[c], n.inputs[b.captured[c]]);
        made = trace_body(g, "branch" + std::to_string(which), {}, n.where, [&](const auto&) {
            std::vector<endpoint> ys, seeds;
            for (std::size_t i = 0; i < r.gradients.size(); ++i)
                if (r.gradients[i] && b.results[i]) {
                    ys.push_back(copy.of(b.results[i]));
                    seeds.push_back(r.gradients[i]);
                }
            std::vector<std::size_t> here;
            std::vector<endpoint> by;
            for (std::size_t i = 0; i < xs.size(); ++i) {
                left[i] = leaves_to_others(n, which, xs[i]);
                if (left[i]) continue;
                copy.refuse_use_of_writes(xs[i]);
                here.push_back(i);
                by.push_back(copy.reads_written(xs[i]) ? copy.of(xs[i]) : xs[i]);
            }
            const auto found = body_gradients(r.ops, ys, seeds, by, stop);
            std::vector<endpoint> d(xs.size());
            for (std::size_t k = 0; k < here.size(); ++k) d[here[k]] = found[k];
            return d;
        });
    }

    // A table's gradient leaves the node as rows if all branches agree on that.
    std::vector<char> by_rows, wide;
    for (std::size_t i = 0; i < xs.size(); ++i) {
        const auto gives = [&](const auto& b) { return bool(b.made.results[i]); };
        const auto fits = [&](const auto& b) { return !b.left[i] && (!gives(b) || is_rows(b.made.results[i])); };
        by_rows.push_back(may_be_trained(xs[i]) && detail::any_of(branches, gives) && detail::all_of(branches, fits));
        for (auto& b : branches) {
            const region_scope inside(b.made.of);
            const endpoint d = b.made.results[i];
            b.rows.push_back(!by_rows[i] ? gradient_rows() : d ? rows_of(d).flat() : no_rows(xs[i]));
        }
        wide.push_back(by_rows[i] && detail::any_of(branches, [&](const auto& b) { return b.rows[i].has_wide_ids(); }));
    }
    std::vector<traced_body> bodies;
    for (std::size_t which = 0; which < branches.size(); ++which) {
        auto& [copy, made, left, rows] = branches[which];
        const auto found = std::exchange(made.results, {});
        for (std::size_t i = 0; i < xs.size(); ++i) {
            const region_scope inside(made.of);
            if (by_rows[i])
                made.results.insert(made.results.end(), {rows[i].slices, wide[i] ? rows[i].wide_ids() : rows[i].ids});
            else
                made.results.push_back(found[i] || left[i] ? found[i] : filled_like(xs[i], 0));
        }
        std::vector<endpoint> may_be_fed;
        for (const auto& k : copy.kept()) may_be_fed.push_back(k.copy);
        const needed_values needed(made.of, made.results, may_be_fed);
        std::vector<endpoint> kept, copies;
        for (const auto& k : copy.kept())
            if (needed.contains(k.copy)) {
                kept.push_back(k.from);
                copies.push_back(k.copy);
            }
        const auto outside = keep_values(n, which, kept);
        for (std::size_t k = 0; k < kept.size(); ++k) made.replaced.emplace_back(copies[k], outside[k]);
        bodies.push_back(std::move(made));
    }
    endpoint_list operands;
    if (!call) operands.push_back(n.inputs[0]);
    const node* made = scope.add(*n.op, use, std::move(operands), bodies, n.where);
    std::vector<endpoint> d(n.inputs.size());
    int port = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const endpoint first{made, port++};
        d[wanted[i]] = by_rows[i] ? gradient_rows{first, {made, port++}, xs[i]}.whole() : first;
    }
    return d;
}

RILL_INLINE std::vector<endpoint> loop_gradient(const gradient_request& r, const op& scan) {
    const node& n = r.at;
    const auto& forward = *n.op->regions();
    const bool repeats = forward.how == region_attributes::form::repeat;
    const std::size_t which = n.bodies->size() - 1;
    const auto& b = (*n.bodies)[which];
    const auto parts = static_cast<std::size_t>(forward.state());
    const auto operands = static_cast<std::size_t>(forward.operands);

    // The state of the scan: the gradients of the loop's state, and the sums of the gradients of its captures.
    std::vector<std::size_t> state, slices; // input numbers
    for (std::size_t i = 0; i < operands; ++i)
        if (i < parts ? is_differentiable(type_of(n.inputs[i]).type) : wants(r, i))
            (i < parts ? state : slices).push_back(i);
    const auto captures = distinct_inputs(r, operands);
    std::vector<std::size_t> stacked; // stacked outputs, whose gradients come slice by slice
    for (std::size_t i = parts; i < r.gradients.size(); ++i)
        if (r.gradients[i]) stacked.push_back(i);

    std::vector<tensor_type> types;
    for (const std::size_t i : state) types.push_back(n.outputs[i]); // the extents of any iteration
    for (const std::size_t i : captures) types.push_back(type_of(n.inputs[i]));
    const std::size_t carried = types.size();
    for (const auto& a : b.arguments) types.push_back(type_of(a));
    for (const std::size_t i : stacked) types.push_back(type_of(b.results[i]));

    const graph g(*n.owner);
    region_node_scope scope(g, std::string(n.op->label()) + "_gradient");
    body_copy copy(b, forward.recompute);
    for (std::size_t c = 0; c < b.captures.size(); ++c) copy.map(b.captures[c], n.inputs[b.captured[c]]);
    const std::vector<endpoint> stop(n.inputs.begin(), n.inputs.end());
    std::vector<char> by_rows(captures.size()); // captures whose gradients are stacked, not summed
    auto made = trace_body(g, "body", types, n.where, [&](const std::vector<endpoint>& arguments) {
        for (std::size_t a = 0; a < b.arguments.size(); ++a) copy.map(b.arguments[a], arguments[carried + a]);
        std::vector<endpoint> ys, seeds, xs, results;
        for (std::size_t k = 0; k < state.size(); ++k) {
            ys.push_back(copy.of(b.results[state[k]]));
            seeds.push_back(arguments[k]);
        }
        for (std::size_t k = 0; k < stacked.size(); ++k) {
            ys.push_back(copy.of(b.results[stacked[k]]));
            seeds.push_back(arguments[carried + b.arguments.size() + k]);
        }
        for (const std::size_t i : state) xs.push_back(arguments[carried + i]);
        for (const std::size_t i : captures) {
            xs.push_back(n.inputs[i]);
            copy.refuse_written(n.inputs[i]);
        }
        for (const std::size_t i : slices) xs.push_back(arguments[carried + i]);
        const auto found = body_gradients(r.ops, ys, seeds, xs, stop);
        const auto zeros_unless = [&](std::size_t k) { return found[k] ? found[k] : filled_like(xs[k], 0); };
        for (std::size_t k = 0; k < state.size(); ++k) results.push_back(zeros_unless(k));
        std::vector<endpoint> stacked_rows;
        for (std::size_t c = 0, k = state.size(); c < captures.size(); ++c, ++k) {
            if (may_be_trained(xs[k]) && found[k] && is_rows(found[k])) {
                const auto rows = rows_of(found[k]).flat();
                by_rows[c] = keeps_extents(rows.ids, std::span(arguments).subspan(carried + parts));
                if (by_rows[c]) stacked_rows.insert(stacked_rows.end(), {rows.slices, rows.ids});
            }
            if (!by_rows[c]) results.push_back(found[k] ? r.ops.add_n({arguments[k], found[k]}) : arguments[k]);
        }
        for (std::size_t k = carried; k < xs.size(); ++k) results.push_back(zeros_unless(k));
        results.insert(results.end(), stacked_rows.begin(), stacked_rows.end());
        return results;
    });
    endpoint_list initial;
    std::vector<endpoint> arguments;
    for (std::size_t k = 0; k < state.size(); ++k) {
        const endpoint whole{&n, static_cast<int>(state[k])};
        initial.push_back(r.gradients[state[k]] ? r.gradients[state[k]] : filled_like(whole, 0));
        arguments.push_back(made.arguments[k]);
    }
    for (std::size_t c = 0; c < captures.size(); ++c)
        if (!by_rows[c]) {
            initial.push_back(filled_like(n.inputs[captures[c]], 0));
            arguments.push_back(made.arguments[state.size() + c]);
        }
    const std::size_t summed = arguments.size();

    // Keep only the needed ones of the values that may be fed: slices of the loop's operands, and outputs of its variant.
    std::vector<endpoint> may_be_fed(made.arguments.begin() + static_cast<std::ptrdiff_t>(carried),
                                     made.arguments.end());
    for (const auto& k : copy.kept()) may_be_fed.push_back(k.copy);
    const needed_values needed(made.of, made.results, may_be_fed);
    std::vector<endpoint> kept, kept_copies;
    for (std::size_t a = 0; a < b.arguments.size(); ++a) {
        const endpoint argument = made.arguments[carried + a];
        const bool counts =
            a + 1 == b.arguments.size() && stacked.empty() && arguments.size() == summed && kept.empty();
        if (!needed.contains(argument) && !counts)
            continue; // the last slice stays (`counts`): a scan takes its length from a slice
        if (a >= parts) {
            arguments.push_back(argument);
            initial.push_back(n.inputs[a]);
        } else {
            kept.push_back(b.arguments[a]);
            kept_copies.push_back(argument);
        }
    }
    for (const auto& k : copy.kept())
        if (needed.contains(k.copy)) {
            kept.push_back(k.from);
            kept_copies.push_back(k.copy);
        }
    const auto histories = keep_values(n, which, kept);
    for (std::size_t k = 0; k < kept.size(); ++k) {
        arguments.push_back(kept_copies[k]);
        initial.push_back(histories[k]);
    }
    for (std::size_t k = 0; k < stacked.size(); ++k) {
        arguments.push_back(made.arguments[carried + b.arguments.size() + k]);
        initial.push_back(r.gradients[stacked[k]]);
    }
    made.arguments = std::move(arguments);

    region_attributes use{region_attributes::form::scan};
    use.carried = static_cast<int>(summed);
    use.reverse = repeats || !forward.reverse;
    use.recompute = forward.recompute;
    use.swap_memory = forward.swap_memory;
    const node* scanned = scope.add(scan, use, std::move(initial), {made}, n.where);
    std::vector<endpoint> d(n.inputs.size());
    int port = 0;
    for (const std::size_t i : state) d[i] = {scanned, port++};
    for (std::size_t c = 0; c < captures.size(); ++c)
        if (!by_rows[c]) d[captures[c]] = {scanned, port++};
    for (const std::size_t i : slices) d[i] = {scanned, port++};
    for (std::size_t c = 0; c < captures.size(); ++c) {
        if (!by_rows[c]) continue;
        const endpoint rows{scanned, port++}, ids{scanned, port++};
        d[captures[c]] = gradient_rows{rows, ids, n.inputs[captures[c]]}.whole();
    }
    return d;
}

}}} // namespace rill::RILL_ABI::detail
#endif
