// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Copies of the bodies of branches and loops for gradients. Only region_gradient.hpp includes this file.

#include <rill/core/algorithm.hpp>
#include <rill/ops/control/region/body.hpp>

#if RILL_DEFINE
#include <algorithm>
#include <utility>
#include <vector>

#include <rill/core/hash_map.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A copier of a body's computation into the open region.
class body_copy {
public:
    /// Copies body `b`. `again`: recompute each value that can be recomputed, whatever it costs. `inner`: `b` belongs to a region op within
    /// a copied body.
    explicit body_copy(const body& b, bool again = false, bool inner = false)
        : body_(b), again_(again), inner_(inner) {}

    void map(const endpoint& from, const endpoint& to) { copies_[key(from)] = to; }
    endpoint of(const endpoint& e) {
        if (!e) return {};
        if (const auto at = copies_.find(key(e)); at != copies_.end()) return at->second;
        if (e.from->inside != body_.of && !is_written(e)) {
            // A constant of an enclosing body needs a copy: bodies do not capture constants, and this copy may lie outside that body.
            if (!e.from->inside || e.from->op->role() != op_role::constant) return e;
            copy_node(*e.from);
        } else {
            copy_before(e);
        }
        return copies_.at(key(e));
    }

    /// Returns true if the copy reads a variable that the body writes, with its value before the write.
    bool reads_written(const endpoint& e) const { return is_written(e) && copies_.contains(key(e)); }
    /// Throws unimplemented if the copy uses a value that the body wrote to the variable.
    void refuse_use_of_writes(const endpoint& variable) const {
        if (detail::contains(used_writes_, variable.from)) refuse(variable);
    }
    /// Throws unimplemented also if the copy reads a variable that the body writes: its value differs in each iteration.
    void refuse_written(const endpoint& variable) const {
        refuse_use_of_writes(variable);
        if (reads_written(variable)) refuse(variable);
    }

    struct kept_value {
        endpoint from, copy;
    };
    /// Returns values of the body whose copies should, or must, be fed with values that the forward run kept.
    const std::vector<kept_value>& kept() const { return kept_; }

private:
    using key_type = std::pair<const node*, int>;
    static key_type key(const endpoint& e) { return {e.from, e.port}; }

    bool is_written(const endpoint& e) const {
        return e.from->op->role() == op_role::variable && detail::any_of(body_.effects, [&](const node* n) {
                   return detail::any_of(n->op->writes(), [&](int w) { return n->inputs[w] == e; });
               });
    }
    /// Returns true if recomputing the node would give another value.
    static bool is_stateful(const node& n) {
        return !n.bodies && ((n.op->stateful() && n.op->role() == op_role::ordinary) || !n.op->writes().empty());
    }

    void copy_before(const endpoint& e) {
        std::vector<const node*> open{e.from}, needed;
        hash_set<const node*> seen;
        while (!open.empty()) {
            const node* n = open.back();
            open.pop_back();
            if (!seen.insert(n)) continue;
            needed.push_back(n);
            if (is_stateful(*n)) continue;
            for (const auto& in : n->inputs)
                if (!copies_.contains(key(in)) && in.from->inside == body_.of) open.push_back(in.from);
        }
        detail::sort(needed, [](const node* a, const node* b) { return a->id < b->id; });
        for (const node* n : needed) copy_node(*n);
    }

    [[noreturn]] void refuse(const endpoint& variable) const {
        throw unimplemented("gradients: the body " + text_of(*body_.of) + " writes variable '" + variable.from->name +
                            "', and what it gives depends on that: its gradient by the variable is not known");
    }

    void copy_node(const node& n) {
        const graph g(*n.owner);
        if (n.op->flow())
            throw unimplemented("gradients: '" + n.name + "' is a " + std::string(n.op->name()) + " in a body (" +
                                place_of(n) + "): " + n.op->no_gradient_reason());
        if (is_stateful(n) || n.op->role() == op_role::variable) {
            for (const int w : n.op->writes()) used_writes_.push_back(written_variable(n.inputs[w]));
            if (inner_) // nothing keeps the values of an inner body
                throw unimplemented("gradients: '" + n.name + "' draws random numbers or depends on writes (" +
                                    place_of(n) +
                                    ") in a loop or branch within a body: its gradient is not known; draw "
                                    "and write outside of the inner one");
            for (int port = 0; port < static_cast<int>(n.outputs.size()); ++port) {
                const endpoint copy{add_node(g, make_op(argument_op{n.outputs[port]}), {}, {}, false, n.where), 0};
                copies_.try_emplace({&n, port}, copy);
                kept_.push_back({{&n, port}, copy});
            }
            return;
        }
        endpoint_list inputs;
        const auto values =
            n.bodies ? n.inputs.size() - static_cast<std::size_t>(n.op->regions()->written) : n.inputs.size();
        for (std::size_t i = 0; i < values; ++i) {
            const endpoint in = n.inputs[i];
            if (is_written(in) && !n.control_inputs.empty())
                throw unimplemented("gradients: '" + n.name + "' reads variable '" + in.from->name +
                                    "' after a write in the same body (" + place_of(n) +
                                    "): its gradient is not known");
            inputs.push_back(of(in));
        }
        const node* copy = n.bodies ? copy_with_bodies(n, std::move(inputs))
                                    : add_node(g, n.op, std::move(inputs), {}, false, n.where);
        // Values whose extents differ between iterations can't be stacked.
        const bool sized = has_dynamic_outputs(n) ||
                           detail::any_of(n.inputs, [&](const endpoint& in) { return sized_.contains(in.from); });
        if (sized) sized_.insert(&n);
        const bool cheap = sized || n.op->fused() || n.op->alias() >= 0 || n.op->role() != op_role::ordinary || again_;
        for (int port = 0; port < static_cast<int>(n.outputs.size()); ++port) {
            copies_.try_emplace({&n, port}, endpoint{copy, port});
            if (!cheap) kept_.push_back({{&n, port}, {copy, port}});
        }
    }

    const node* copy_with_bodies(const node& n, endpoint_list inputs) {
        auto use = *n.op->regions();
        region_node_scope scope(graph(*n.owner), n.op->label());
        std::vector<traced_body> bodies;
        for (const auto& b : *n.bodies) {
            body_copy inner(b, true, true);
            for (std::size_t c = 0; c < b.captures.size(); ++c) inner.map(b.captures[c], inputs[b.captured[c]]);
            bodies.push_back(
                trace_body(graph(*n.owner), "body", types_of(b.arguments), n.where, [&](const auto& arguments) {
                    for (std::size_t a = 0; a < arguments.size(); ++a) inner.map(b.arguments[a], arguments[a]);
                    std::vector<endpoint> results;
                    for (const auto& r : b.results) results.push_back(inner.of(r));
                    return results;
                }));
        }
        endpoint_list operands;
        for (int i = 0; i < use.operands; ++i) operands.push_back(inputs[i]);
        return scope.add(*n.op, use, std::move(operands), bodies, n.where);
    }

    /// Returns true if data determine the node's extents, as for a loop with stacked outputs.
    static bool has_dynamic_outputs(const node& n) {
        if (!n.bodies) return n.op->has_dynamic_outputs();
        const auto& use = *n.op->regions();
        return use.how == region_attributes::form::repeat && n.outputs.size() > static_cast<std::size_t>(use.operands);
    }
    const body& body_;
    bool again_, inner_;
    hash_set<const node*> sized_; // nodes whose extents depend on data
    hash_map<key_type, endpoint> copies_;
    std::vector<kept_value> kept_;
    std::vector<const node*> used_writes_; // variables whose written values are used
};

}}} // namespace rill::RILL_ABI::detail
#endif
