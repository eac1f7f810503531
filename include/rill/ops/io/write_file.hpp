// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/io/read_file.hpp>

namespace rill { inline namespace RILL_ABI {

/// Writes bytes to a temporary file beside the target, then renames it to the target.
struct write_file_op {
    static constexpr auto name = "WriteFile", label = "write_file";
    static constexpr int inputs = 2;
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    static constexpr bool stateful = true;
    static constexpr auto no_gradient = ""; // the op has no outputs

    static input_list host_inputs() { return {0, 1}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request&) const { return bound(); }

private:
    static kernel bound();
};

/// Returns an operation that writes a file: write_file(path, bytes). It creates missing directories. After an error the old file is
/// unchanged.
template <graph_operand X, graph_operand Bytes>
operation write_file(const X& path, const Bytes& bytes,
                     const std::source_location& where = std::source_location::current()) {
    return operation(apply_node(write_file_op{}, where, path, bytes).node());
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_COLD std::vector<tensor_type> write_file_op::outputs(std::span<const tensor_type> in) const {
    detail::check_path(in[0], "the path");
    detail::check_path(in[1], "the contents");
    return {};
}

RILL_COLD kernel write_file_op::bound() {
    return kernel([](const kernel_args& a) {
        auto& files = file_system::real();
        const auto& path = detail::permitted_path(a, 0);
        detail::make_directories(files, detail::directory_of(path));
        detail::replace_file(files, path, [&](output_file& to) { to.append(*a.in<std::string>(1)); });
    });
}

}} // namespace rill::RILL_ABI
#endif
