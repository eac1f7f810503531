// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/control/region/region_gradient.hpp>

namespace rill { inline namespace RILL_ABI {

/// Runs one of its bodies, chosen by its first operand. A number chooses the body of that number, or the last if it is out of range. The
/// value true chooses the first of two bodies.
struct case_op {
    static constexpr auto name = "Case", label = "cond";
    static constexpr int least_inputs = 1;
    using domain_type = domains::every;
    region_attributes use{region_attributes::form::choose};

    static void fields(auto& op, auto& visit) { region_attributes::fields(op.use, visit); }
    const region_attributes* regions() const { return &use; }
    /// Returns the common types of the branches' results. Dtypes must be equal; extents that differ are known only to a run.
    std::vector<tensor_type> outputs(const known_inputs& in) const;
    std::vector<endpoint> gradient(const gradient_request& r) const;
};

/// True if two branches give tensors of one element type and rank, with compatible extents: compare the two.
template <class A, class B> inline constexpr bool branches_agree = false;
template <class T, class U, index_t... A, index_t... B>
    requires(sizeof...(A) == sizeof...(B))
inline constexpr bool branches_agree<tensor<T, A...>, tensor<U, B...>> =
    std::is_same_v<T, U> && ((A == B || A == dyn || B == dyn) && ...);
template <> inline constexpr bool branches_agree<any_tensor, any_tensor> = true;
template <class T, index_t... D> inline constexpr bool branches_agree<any_tensor, tensor<T, D...>> = true;
template <class T, index_t... D> inline constexpr bool branches_agree<tensor<T, D...>, any_tensor> = true;
template <class... A, class... B>
    requires(sizeof...(A) == sizeof...(B))
inline constexpr bool branches_agree<std::tuple<A...>, std::tuple<B...>> = (branches_agree<A, B> && ...);

namespace detail {

/// The type of a tensor that comes from either of two branches.
template <class A, class B> struct joined_branches {
    using type = any_tensor;
};
template <class T, index_t... A, index_t... B>
    requires(sizeof...(A) == sizeof...(B))
struct joined_branches<tensor<T, A...>, tensor<T, B...>> {
    using type = tensor<T, (A == B ? A : dyn)...>;
};
template <class... A, class... B>
    requires(sizeof...(A) == sizeof...(B))
struct joined_branches<std::tuple<A...>, std::tuple<B...>> {
    static_assert((branches_agree<A, B> && ...), "cond: the branches give tensors of other types");
    using type = std::tuple<typename joined_branches<A, B>::type...>;
};
template <> struct joined_branches<operation, operation> {
    using type = operation;
};

/// The type of a result that comes from one of any number of branches.
template <class A, class... More> struct joined_all {
    using type = A;
};
template <class A, class B, class... More> struct joined_all<A, B, More...> {
    static_assert(is_tuple<A> || std::is_same_v<A, operation> || branches_agree<A, B>,
                  "the branches give tensors of other types");
    using type = typename joined_all<typename joined_branches<A, B>::type, More...>::type;
};

/// The handles of a branch's results; an operation if it has none.
template <class R> struct branch_handles {
    using type = operation;
};
template <body_value R> struct branch_handles<R> {
    using type = handle_type<R>;
};
template <class... X> struct branch_handles<std::tuple<X...>> {
    using type = handle_type<std::tuple<X...>>;
};
template <class F>
using branch_type = typename branch_handles<std::remove_cvref_t<std::invoke_result_t<const F&>>>::type;

template <class H> H branch_result(const node* n) {
    if constexpr (std::is_same_v<H, operation>) {
        return operation(n);
    } else {
        std::vector<endpoint> ends;
        for (std::size_t i = 0; i < handle_count<H>; ++i) ends.push_back({n, static_cast<int>(i)});
        return handles<H>(ends);
    }
}

/// Returns a function that calls the branch while its region is open.
template <class F> body_function branch_body(const F& f, const graph& g) {
    return [&f, g](const std::vector<endpoint>&) -> std::vector<endpoint> {
        if constexpr (std::is_void_v<std::invoke_result_t<const F&>>) {
            f();
            return {};
        } else {
            return results_of(f(), g);
        }
    };
}

/// The operand that chooses a branch: a bool in cond, a number in switch_case.
enum class chosen_by { truth, number };

/// Adds the node that runs one of several branches.
const node* add_branches(const graph& g, const std::string& name, const endpoint& which, chosen_by by,
                         const std::vector<body_function>& branches, const std::source_location& where);

} // namespace detail

/// Returns the result of `then` if the condition, a bool of rank 0, is true, else that of `otherwise`. A branch gives a tensor, a number, a
/// tuple of them, or nothing (then the result is an operation). Only one branch runs, as a whole. Values that the branches capture are
/// computed before.
template <graph_operand C, class Then, class Else>
    requires(std::is_invocable_v<const Then&> && std::is_invocable_v<const Else&>)
auto cond(const C& condition, const Then& then, const Else& otherwise,
          const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<C>) {
        static_assert(same_dtype<value_type_of<C>, bool>, "cond: the condition must be a bool");
        static_assert(extents_of<C>::rank == 0, "cond: the condition must have rank 0");
    }
    detail::register_region_ops<case_op>();
    using A = detail::branch_type<Then>;
    using B = detail::branch_type<Else>;
    using result = typename detail::joined_all<A, B>::type;
    const graph g = detail::home_graph(condition);
    return detail::branch_result<result>(
        detail::add_branches(g, "cond", detail::seal(condition, g), detail::chosen_by::truth,
                             {detail::branch_body(then, g), detail::branch_body(otherwise, g)}, where));
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> case_op::outputs(const known_inputs& in) const {
    if (in.types[0].shape.known_rank() && in.types[0].shape.rank != 0)
        throw invalid_argument("the branch index must have rank 0, and has rank " +
                               std::to_string(in.types[0].shape.rank));
    const auto by = in.types[0].type;
    if (by != dtype::boolean && by != dtype::int32 && by != dtype::int64)
        throw invalid_argument("a branch is chosen by a bool, int32 or int64");
    std::vector<tensor_type> all;
    for (std::size_t b = 0; b < in.bodies.size(); ++b) {
        const auto& given = in.bodies[b];
        if (b > 0 && given.size() != all.size())
            throw invalid_argument("branch 0 gives " + std::to_string(all.size()) + " values, branch " +
                                   std::to_string(b) + " gives " + std::to_string(given.size()));
        all.resize(given.size());
        for (std::size_t i = 0; i < given.size(); ++i) {
            if (given[i].type == dtype::invalid) continue; // absent value: another branch gives it
            if (all[i].type == dtype::invalid) {
                all[i] = given[i];
                continue;
            }
            if (all[i].type != given[i].type)
                throw invalid_argument("value " + std::to_string(i) + " is " + to_string(all[i]) +
                                       " in one branch and " + to_string(given[i]) + " in another");
            all[i].shape = rules::common(all[i].shape, given[i].shape);
        }
    }
    return all;
}

RILL_INLINE std::vector<endpoint> case_op::gradient(const gradient_request& r) const {
    return detail::branch_gradient(r);
}

RILL_INLINE const node* detail::add_branches(const graph& g, const std::string& name, const endpoint& which,
                                             chosen_by by, const std::vector<body_function>& branches,
                                             const std::source_location& where) {
    const auto& type = type_of(checked(which));
    const auto& place = where.line() == 0 ? which.from->where : where; // a variadic call passes no source location
    const bool fits =
        by == chosen_by::truth ? type.type == dtype::boolean : type.type == dtype::int32 || type.type == dtype::int64;
    if (!fits || (type.shape.known_rank() && type.shape.rank != 0))
        throw invalid_argument(name + ": '" + name_of(which) + "' is " + to_string(type) + ", not " +
                               (by == chosen_by::truth ? "a bool" : "an int32 or int64") + " of rank 0 (made at " +
                               to_string(place) + ")");
    const graph_scope here(g);
    region_node_scope scope(g, name);
    std::vector<traced_body> bodies;
    for (std::size_t b = 0; b < branches.size(); ++b)
        bodies.push_back(trace_body(g, "branch" + std::to_string(b), {}, place, branches[b]));
    return scope.add(*make_op(case_op{}), {region_attributes::form::choose}, {which}, bodies, place);
}

}} // namespace rill::RILL_ABI
#endif
