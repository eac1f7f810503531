// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include <rill/expr/constant.hpp>
#include <rill/graph/scope.hpp>
#include <rill/ops/state/resource_op.hpp>
#include <rill/resources/collective_state.hpp>

namespace rill { inline namespace RILL_ABI {

/// An exchange of values between ranks. See detail::collective_state.
struct collective_op : detail::resource_maker {
    static constexpr auto name = "Collective";
    index_t ranks = 1;
    std::string engine = {}; // the plug-in that transports the values; empty: they meet in one task

    static void fields(auto& op, auto& visit) {
        visit("ranks", op.ranks);
        visit("engine", op.engine);
        place_fields(op, visit);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const {
        detail::collective_state::check(ranks);
        return handle_type();
    }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return detail::handle_kernel<D>(detail::make_resource<detail::collective_state>(r, place, ranks, engine));
    }
};

struct collective_options {
    std::string name = "collective"; // must differ between groups of ranks
    index_t ranks = 1;
    index_t rank = 0;                    // this rank, from 0
    std::vector<std::string> tasks = {}; // by rank, where values meet (as /job:worker/task:0). Empty: in this process
    std::string engine = {}; // "mpi": the ranks are the processes that mpirun has started, and tell their number
};

/// Ranks that exchange values: tasks of a cluster, processes of an MPI job, or threads of a process. Each rank builds the same operations in the
/// same order, in a graph and a session of its own:
///
///     const collective_group workers({.ranks = 2, .rank = task, .tasks = {"/job:worker/task:0", "/job:worker/task:1"}});
///     const tensor sum = all_reduce(x, workers);
class collective_group {
public:
    /// Throws invalid_argument if the rank is not in [0, ranks), or if tasks are given but do not number `ranks`. With an engine, the group
    /// joins the job. It then throws not_found if the plug-in is missing, and unavailable if the group can't join.
    template <std::same_as<collective_options> Given = collective_options>
    explicit collective_group(const Given& options = {},
                              const std::source_location& where = std::source_location::current())
        : options_(checked(options, where)) {}

    index_t ranks() const { return options_.ranks; }
    index_t rank() const { return options_.rank; }
    const std::vector<std::string>& tasks() const { return options_.tasks; }
    const std::string& engine() const { return options_.engine; }
    /// Returns the name of the next exchange: the same for all ranks.
    std::string next_name() const { return options_.name + "/" + std::to_string((*made_)++); }

private:
    static collective_options checked(const collective_options& given, const std::source_location& where);

    collective_options options_;
    std::shared_ptr<std::int64_t> made_ = std::make_shared<std::int64_t>(0); // shared by copies of the group
};

namespace detail {

/// The base of ops that exchange a value. Their inputs are the handle, the rank and the value.
struct collective_user : resource_user {
    static constexpr int inputs = 3;
    static constexpr bool is_async = true, has_dynamic_outputs = true;
    static constexpr auto ordering = step_ordering::reads;
    static constexpr auto no_gradient = "it depends on the values of other graphs";
    std::string tensor = {}; // the name of the value, which the ranks compare

    input_list host_inputs() const { return {0, 1}; }
    dtype kernel_type(std::span<const tensor_type> in, std::span<const tensor_type>) const { return in[2].type; }
    static void check_rank(std::span<const tensor_type> in) { check_count_operand(in[1], "the rank"); }
};

/// Returns a kernel that exchanges the value of its rank.
inline kernel collective_kernel(const kernel_request& r, collective_call asked) {
    return kernel([rank = r.inputs[1].type, value = r.inputs[2], asked = std::move(asked)](const kernel_args& a) {
        resource_of<collective_state>(a)->exchange(count_of(rank, a.in<void>(1)), owned_copy(a.array(value, 2)), asked,
                                                   *a.wait, a.sized);
    });
}

/// Adds the exchange of a value at a task.
template <class Op>
any_tensor exchange_at(const std::string& task, Op op, const any_tensor& x, const collective_group& group,
                       const std::source_location& where) {
    std::optional<device_scope> there;
    if (!task.empty()) there.emplace(task);
    collective_op made;
    made.ranks = group.ranks();
    made.engine = group.engine();
    if (op.tensor.empty()) op.tensor = name_of(x.end());
    const any_tensor handle = add_resource(std::move(made), group.next_name(), {}, where);
    return apply_node(op, where, handle, constant(static_cast<std::int64_t>(group.rank())), x);
}
/// Adds an exchange at the task of the first rank.
template <class Op>
any_tensor exchange_at_first(const Op& op, const any_tensor& x, const collective_group& group,
                             const std::source_location& where) {
    return exchange_at(group.tasks().empty() ? std::string() : group.tasks()[0], op, x, group, where);
}
/// Adds an exchange of a sealed value at the task of the first rank. apply_node registers the kernels for the usual types; this function
/// registers that of the value's type.
template <class Result, class Op, class X>
Result exchanged(const Op& op, const X& value, const collective_group& group, const std::source_location& where) {
    if constexpr (typed_operand<X>) {
        require_kernel<Op, value_type_of<X>>();
        return Result(unchecked, exchange_at_first(op, value, group, where));
    } else {
        return exchange_at_first(op, value, group, where);
    }
}

} // namespace detail

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
#include <rill/resources/rank_exchanges.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_COLD collective_options collective_group::checked(const collective_options& given,
                                                       const std::source_location& where) {
    auto o = given;
    const auto refuse = [&](const std::string& why) {
        throw invalid_argument("collective_group: " + why + detail::at_place(where));
    };
    if (!o.engine.empty()) {
        if (!o.tasks.empty() || o.ranks != 1 || o.rank != 0)
            refuse("with the engine '" + o.engine + "' the job tells the ranks, and values meet in no task");
        const auto job = detail::rank_exchanges::of_plugin(o.engine);
        o.ranks = job->ranks();
        o.rank = job->rank();
    }
    detail::collective_state::check(o.ranks);
    if (o.rank < 0 || o.rank >= o.ranks)
        refuse("the rank is " + std::to_string(o.rank) + "; there are " + std::to_string(o.ranks) + ", numbered from 0");
    if (!o.tasks.empty() && static_cast<index_t>(o.tasks.size()) != o.ranks)
        refuse(std::to_string(o.tasks.size()) + " tasks are named, and there are " + std::to_string(o.ranks) + " ranks");
    return o;
}

}} // namespace rill::RILL_ABI
#endif
