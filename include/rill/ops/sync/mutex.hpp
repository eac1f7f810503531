// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/identity.hpp>
#include <rill/ops/control/body.hpp>
#include <rill/ops/sync/mutex_acquire.hpp>
#include <rill/ops/sync/mutex_release.hpp>

namespace rill { inline namespace RILL_ABI {

/// A lock that one session holds at a time.
struct mutex_op : detail::resource_maker {
    static constexpr auto name = "Mutex";

    static void fields(auto& op, auto& visit) { place_fields(op, visit); }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const { return handle_type(); }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return detail::handle_kernel<D>(detail::make_resource<detail::mutex_state>(r, place));
    }
};

struct mutex_options {
    std::string shared_name = {}; // sessions of this process share the mutex of that name
};

namespace detail {

/// What a critical section gives, as handles: the operation of the release where it gives nothing.
template <class R> struct section_result {
    using type = operation;
};
template <body_value R> struct section_result<R> {
    using type = handle_type<R>;
};
template <class... X> struct section_result<std::tuple<X...>> {
    using type = handle_type<std::tuple<X...>>;
};

using section_body = std::function<std::vector<endpoint>(std::vector<const node*>& also)>;

/// Acquire, what `make` adds, release, and the results handed on.
std::pair<std::vector<endpoint>, operation> add_critical_section(const any_tensor& handle, const section_body& make,
                                                                 const std::source_location& where);

} // namespace detail

/// mutex lock("name"): a lock in the graph, of each of its sessions or, under a shared name, of the process. Who waits for it holds no
/// thread. It is held by a session: let go if the step that took it fails, or the session ends. It is not taken twice by one who has it:
/// that waits, in vain.
class mutex {
public:
    explicit mutex(const std::string& name = {}, const mutex_options& o = {},
                   const std::source_location& where = std::source_location::current())
        : handle_(detail::add_resource(mutex_op{}, o.shared_name, name, where)) {}

    operation acquire(const std::source_location& where = std::source_location::current()) const {
        return operation(apply_node(mutex_acquire_op{}, where, handle_).node());
    }
    /// `failed_precondition` if this session does not hold it.
    operation release(const std::source_location& where = std::source_location::current()) const {
        return operation(apply_node(mutex_release_op{}, where, handle_).node());
    }
    /// What `body` gives: a tensor, a number, a tuple of them, or nothing (then it is an operation). All nodes that `body` makes run
    /// between acquire and release, and read variables as they are then; what it uses from outside may be computed before.
    template <class F>
        requires std::is_invocable_v<const F&>
    auto critical(const F& body, const std::source_location& where = std::source_location::current()) const {
        using R = std::remove_cvref_t<std::invoke_result_t<const F&>>;
        using result = typename detail::section_result<R>::type;
        const graph g = handle_.graph();
        const auto [ends, released] = detail::add_critical_section(
            handle_,
            [&](std::vector<const node*>& also) -> std::vector<endpoint> {
                if constexpr (std::is_void_v<R>) {
                    body();
                    return {};
                } else {
                    const R given = body();
                    if constexpr (std::is_same_v<R, operation>) also.push_back(given.node());
                    return detail::endpoints_of(given, g);
                }
            },
            where);
        if constexpr (std::is_same_v<result, operation>)
            return released;
        else
            return detail::handles<result>(ends);
    }
    /// The name of its node.
    const std::string& name() const { return handle_.node()->name; }
    const any_tensor& handle() const { return handle_; }

private:
    any_tensor handle_;
};

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
#include <algorithm>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD std::pair<std::vector<endpoint>, operation>
add_critical_section(const any_tensor& handle, const section_body& make, const std::source_location& where) {
    require_kernel<identity_op, void>();
    const graph g = handle.graph();
    const graph_scope here(g);
    const auto same = [&](const endpoint& e) {
        return endpoint{add_node(g, make_op(identity_op{}), {e}, {}, false, where), 0};
    };
    const operation acquired(apply_node(mutex_acquire_op{}, where, handle).node());
    const auto first = g.size();
    std::vector<endpoint> results;
    std::vector<const node*> within{acquired.node()};
    {
        const control_dependencies after(acquired);
        results = make(within);
        for (auto& e : results)
            if (e.from->op->role() == op_role::variable) e = same(e); // it is read here
    }
    const auto nodes = g.nodes();
    for (std::size_t i = first; i < nodes.size(); ++i) // others may have grown the graph meanwhile
        if (std::ranges::find(nodes[i]->control_inputs, acquired.node()) != nodes[i]->control_inputs.end())
            within.push_back(nodes[i]);
    for (const auto& e : results) within.push_back(e.from);
    std::ranges::sort(within, {}, [](const node* n) { return n->id; });
    within.erase(std::unique(within.begin(), within.end()), within.end());
    const node* released = add_node(g, make_op(mutex_release_op{}), {handle.end()}, {}, false, where, within);
    const control_dependencies after{operation(released)};
    for (auto& e : results) e = same(e);
    return {results, operation(released)};
}

}}} // namespace rill::RILL_ABI::detail
#endif
