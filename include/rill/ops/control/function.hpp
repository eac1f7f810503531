// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <list>
#include <memory>
#include <mutex>

#include <rill/core/shared.hpp>
#include <rill/ops/control/region/region_gradient.hpp>

namespace rill { inline namespace RILL_ABI {

/// Runs its body with its operands as arguments.
struct call_op {
    static constexpr auto name = "PartitionedCall", label = "call";
    using domain_type = domains::every;
    region_attributes use{region_attributes::form::call};

    static void fields(auto& op, auto& visit) { region_attributes::fields(op.use, visit); }
    const region_attributes* regions() const { return &use; }
    std::vector<tensor_type> outputs(const known_inputs& in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;
};

namespace detail {

/// The traced bodies of one function, by graph, region and argument types.
class function_bodies {
public:
    /// Returns the body, traced on first use. Throws invalid_argument if the function calls itself.
    const traced_body& get(const graph& g, const std::vector<tensor_type>& arguments, const std::source_location& where,
                           const body_function& make);

private:
    struct known {
        std::weak_ptr<const void> of; // a graph, which this does not keep alive
        const region* inside;
        std::vector<tensor_type> arguments;
        std::shared_ptr<const traced_body> made; // null while it is traced
    };
    std::recursive_mutex mutex_;
    std::list<known> all_;
};

std::vector<endpoint> add_call(const graph& g, const traced_body& body, std::vector<endpoint> operands, bool recompute,
                               const std::source_location& where);

} // namespace detail

/// A function of tensors: see rill::function.
template <class F> class graph_function {
public:
    graph_function(F f, bool recompute, const std::source_location& where)
        : f_(std::move(f)), recompute_(recompute), where_(where) {}

    template <class... X>
        requires(detail::body_value<X> && ...)
    auto operator()(const X&... x) const {
        detail::register_region_ops<call_op>();
        using arguments = std::tuple<detail::handle_type<X>...>;
        using given = std::remove_cvref_t<std::invoke_result_t<const F&, const detail::handle_type<X>&...>>;
        const graph g = detail::home_graph(x...);
        const graph_scope here(g);
        auto operands = detail::endpoints_of(std::tuple<X...>(x...), g);
        const auto& body = bodies_->get(g, detail::types_of(operands), where_, [&](const std::vector<endpoint>& ends) {
            const auto result =
                std::apply([&](const auto&... a) { return f_(a...); }, detail::handles<arguments>(ends));
            return detail::results_of(result, g);
        });
        return detail::handles<detail::handle_type<given>>(
            detail::add_call(g, body, std::move(operands), recompute_, where_));
    }

private:
    F f_;
    bool recompute_;
    std::source_location where_;
    std::shared_ptr<detail::function_bodies> bodies_ = detail::make_shared<detail::function_bodies>();
};

/// Returns a function whose body is traced once for each graph and list of argument types: auto f = function([](auto a, auto b) { return a
/// * a + b; }); f(x, y). It may capture tensors from outside; it can't call itself.
template <class F>
graph_function<F> function(F f, const std::source_location& where = std::source_location::current()) {
    return {std::move(f), false, where};
}

/// Returns a function whose values are recomputed for gradients instead of being kept.
template <class F>
graph_function<F> recompute(F f, const std::source_location& where = std::source_location::current()) {
    return {std::move(f), true, where};
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> call_op::outputs(const known_inputs& in) const { return in.bodies[0]; }
RILL_INLINE std::vector<endpoint> call_op::gradient(const gradient_request& r) const {
    return detail::branch_gradient(r);
}

namespace detail {

RILL_INLINE const traced_body& function_bodies::get(const graph& g, const std::vector<tensor_type>& arguments,
                                                    const std::source_location& where, const body_function& make) {
    const std::lock_guard lock(mutex_);
    all_.remove_if([](const known& k) { return k.of.expired(); });
    for (const auto& k : all_) {
        if (k.of.lock() != g.state().life() || k.arguments != arguments) continue;
        if (!k.made) // still being traced: a recursive call
            throw invalid_argument("function: the function made at " + to_string(where) +
                                   " calls itself; a loop does that: while_loop");
        if (k.inside == scopes().inside) return *k.made;
    }
    const auto at = all_.insert(all_.end(), {g.state().life(), scopes().inside, arguments, nullptr});
    try {
        const name_scope named("function");
        at->made = detail::make_shared<traced_body>(trace_body(g, "body", arguments, where, make));
    } catch (...) {
        all_.erase(at);
        throw;
    }
    return *at->made;
}

RILL_INLINE std::vector<endpoint> add_call(const graph& g, const traced_body& body, std::vector<endpoint> operands,
                                           bool recompute, const std::source_location& where) {
    region_node_scope scope(g, "call");
    region_attributes use{region_attributes::form::call};
    use.recompute = recompute;
    endpoint_list inputs;
    for (const auto& e : operands) inputs.push_back(e);
    const node* made = scope.add(*make_op(call_op{}), use, std::move(inputs), {body}, where);
    std::vector<endpoint> ends;
    for (std::size_t i = 0; i < made->outputs.size(); ++i) ends.push_back({made, static_cast<int>(i)});
    return ends;
}

} // namespace detail

}} // namespace rill::RILL_ABI
#endif
