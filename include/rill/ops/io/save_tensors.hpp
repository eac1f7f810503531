// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <rill/core/host_array.hpp>
#include <rill/expr/constant.hpp>
#include <rill/ops/io/read_file.hpp>

namespace rill { inline namespace RILL_ABI {

/// Writes tensors as a single-file checkpoint. Inputs: the path, the names [n], n tensors of any type.
struct save_tensors_op {
    static constexpr auto name = "SaveV2", label = "save";
    static constexpr int least_inputs = 2;
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    static constexpr bool stateful = true;
    static constexpr auto no_gradient = ""; // the op has no outputs
    std::int64_t tensors = 0;

    static void fields(auto& op, auto& visit) { visit("tensors", op.tensors); }
    input_list host_inputs() const;
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request& r) const { return bound(r); }

private:
    static kernel bound(const kernel_request& r);
};

/// Returns an operation that writes tensors as the checkpoint `path`: save_tensors(path, {{"w", w}, {"b", b}}). checkpoint_reader, load()
/// and restore_tensor read it. An old file stays until the new one is complete. A saver also stores queues and counters, and keeps several
/// checkpoints.
template <graph_operand X>
operation save_tensors(const X& path, const std::vector<std::pair<std::string, any_tensor>>& tensors,
                       const std::source_location& where = std::source_location::current()) {
    require_kernel<save_tensors_op, void>();
    std::vector<std::string> names;
    for (const auto& [name, tensor] : tensors) names.push_back(name);
    const auto edge = detail::seal(path);
    const graph_scope here(graph(*edge.from->owner));
    endpoint_list inputs;
    inputs.push_back(edge);
    inputs.push_back(
        detail::seal(constant(to_any_array<std::string>(names, dims{static_cast<index_t>(names.size())}))));
    for (const auto& [name, tensor] : tensors) inputs.push_back(detail::seal(tensor));
    return operation(detail::add_node(current_graph(),
                                      make_op(save_tensors_op{static_cast<std::int64_t>(tensors.size())}),
                                      std::move(inputs), {}, false, where));
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
#include <rill/core/shape_rules.hpp>
#include <rill/io/checkpoint.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_COLD input_list save_tensors_op::host_inputs() const {
    input_list all;
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(tensors) + 2; ++i) all.push_back(i);
    return all;
}

RILL_COLD std::vector<tensor_type> save_tensors_op::outputs(std::span<const tensor_type> in) const {
    detail::check_path(in[0], "the path");
    const auto n = static_cast<index_t>(in.size()) - 2;
    if (tensors != n)
        throw invalid_argument(std::to_string(tensors) + " tensors are to be saved, " + std::to_string(n) +
                               " are given");
    if (in[1].type != dtype::string || (in[1].shape.known_rank() && !rules::compatible(in[1].shape, dims{n})))
        throw invalid_argument("the names must be " + std::to_string(n) + " strings, not " + to_string(in[1]));
    return {};
}

RILL_COLD kernel save_tensors_op::bound(const kernel_request& r) {
    return kernel([types = std::vector<tensor_type>(r.inputs.begin() + 2, r.inputs.end())](const kernel_args& a) {
        std::vector<named_array> arrays;
        for (std::size_t i = 0; i < types.size(); ++i)
            arrays.push_back({a.in<std::string>(1)[i], a.array(types[i], static_cast<int>(i) + 2)});
        detail::write_checkpoint_file(detail::permitted_path(a, 0), std::move(arrays), {});
    });
}

}} // namespace rill::RILL_ABI
#endif
