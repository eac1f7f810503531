// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <rill/core/file_access.hpp>
#include <rill/expr/node_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// Reads the bytes of a file when the node runs. Shape: [].
struct read_file_op {
    static constexpr auto name = "ReadFile", label = "read_file";
    static constexpr int inputs = 1;
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    static constexpr bool stateful = true; // the file may change between steps
    static constexpr auto no_gradient = "a file does not change smoothly";

    static input_list host_inputs() { return {0}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request&) const { return bound(); }

private:
    static kernel bound();
};

namespace detail {

/// Throws invalid_argument unless the type is a string of rank 0. `what` names the operand.
void check_path(const tensor_type& t, const char* what);
/// Returns the path from an input of a file op, after a check that the step may open that file.
const std::string& permitted_path(const kernel_args& a, int input);

} // namespace detail

/// Returns all bytes of a file as a tensor<std::string>: read_file(path). The run throws not_found if there is no such
/// file.
template <graph_operand X>
tensor<std::string> read_file(const X& path, const std::source_location& where = std::source_location::current()) {
    return {detail::unchecked, apply_node(read_file_op{}, where, path)};
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
#include <rill/io/file_system.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_COLD void detail::check_path(const tensor_type& t, const char* what) {
    if (t.type != dtype::string || (t.shape.known_rank() && t.shape.rank != 0))
        throw invalid_argument(std::string(what) + " must be a string of rank 0, not " + to_string(t));
}

RILL_COLD const std::string& detail::permitted_path(const kernel_args& a, int input) {
    const auto& path = *a.in<std::string>(input);
    if (a.step && a.step->files) a.step->files->check(path);
    return path;
}

RILL_COLD std::vector<tensor_type> read_file_op::outputs(std::span<const tensor_type> in) const {
    detail::check_path(in[0], "the path");
    return {{dtype::string, dims{}}};
}

RILL_COLD kernel read_file_op::bound() {
    return kernel([](const kernel_args& a) {
        constexpr std::uint64_t most = std::uint64_t(1) << 40;
        *a.out<std::string>(0) = detail::read_whole(file_system::real(), detail::permitted_path(a, 0), most);
    });
}

}} // namespace rill::RILL_ABI
#endif
