// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <rill/link/dynamic_runtime.hpp>
#include <rill/ops/io/read_file.hpp>

namespace rill { inline namespace RILL_ABI {

/// Reads a tensor of a checkpoint when the node runs. Shape: the given one; open extents are those of the file.
struct restore_tensor_op {
    static constexpr auto name = "RestoreV2", label = "restore";
    static constexpr int inputs = 1;
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    static constexpr bool stateful = true, has_dynamic_outputs = true;
    static constexpr auto no_gradient = "a file does not change smoothly";
    std::string tensor;
    dtype type = dtype::float32;
    dims shape;

    static void fields(auto& op, auto& visit) {
        visit("tensor_name", op.tensor);
        visit("dtype", op.type);
        visit("shape", op.shape);
    }
    static input_list host_inputs() { return {0}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request&) const { return bound(); }

private:
    kernel bound() const;
};

/// Reads the named tensor of a checkpoint: restore_tensor<float, 2, 3>(path, "w"). saver, save() and save_tensors write such files. To
/// restore a variable: w.assign(restore_tensor<float, 2, 3>(path, "w")). The run throws invalid_argument if the file has another type.
template <element T, index_t... D, graph_operand X>
tensor<T, D...> restore_tensor(const X& path, const std::string& name,
                               const std::source_location& where = std::source_location::current()) {
    return {detail::unchecked, apply_node(restore_tensor_op{name, dtype_of<T>, dims{D...}}, where, path)};
}
/// Reads a tensor of a type known only at run time.
template <graph_operand X>
any_tensor restore_tensor(const X& path, const std::string& name, const tensor_type& type,
                          const std::source_location& where = std::source_location::current()) {
    return apply_node(restore_tensor_op{name, type.type, type.shape}, where, path);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
#include <rill/core/shape_rules.hpp>
#include <rill/io/checkpoint.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_COLD std::vector<tensor_type> restore_tensor_op::outputs(std::span<const tensor_type> in) const {
    detail::check_path(in[0], "the path");
    if (type == dtype::invalid) throw invalid_argument("a dtype is expected");
    return {{type, shape}};
}

RILL_COLD kernel restore_tensor_op::bound() const {
    return kernel([tensor = tensor, wanted = tensor_type{type, shape}](const kernel_args& a) {
        const auto& path = detail::permitted_path(a, 0);
        any_array value = checkpoint_reader(path).read(tensor);
        if (value.dtype() != wanted.type || !rules::compatible(value.shape(), wanted.shape))
            throw invalid_argument("'" + path + "': the tensor '" + tensor + "' is " + to_string(value.type()) +
                                   ", not " + to_string(wanted));
        a.sized[0] = std::move(value);
    });
}

}} // namespace rill::RILL_ABI
#endif
