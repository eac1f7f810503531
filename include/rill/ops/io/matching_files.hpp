// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <rill/link/dynamic_runtime.hpp>
#include <rill/ops/io/read_file.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns the sorted paths of the files that match a pattern when the node runs. Shape: [n].
struct matching_files_op {
    static constexpr auto name = "MatchingFiles", label = "matching_files";
    static constexpr int inputs = 1;
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    static constexpr bool stateful = true, has_dynamic_outputs = true;
    static constexpr auto no_gradient = "files do not change smoothly";

    static input_list host_inputs() { return {0}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request&) const { return bound(); }

private:
    static kernel bound();
};

/// Returns the matching paths as a tensor<std::string, dyn>: matching_files(pattern). `*`, `?` and `[a-z]` are wildcards, in the last part
/// of the path only. Without a match the result is empty.
template <graph_operand X>
tensor<std::string, dyn> matching_files(const X& pattern,
                                        const std::source_location& where = std::source_location::current()) {
    return {detail::unchecked, apply_node(matching_files_op{}, where, pattern)};
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
#include <rill/io/byte_stream.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_COLD std::vector<tensor_type> matching_files_op::outputs(std::span<const tensor_type> in) const {
    detail::check_path(in[0], "the pattern");
    return {{dtype::string, dims{dyn}}};
}

RILL_COLD kernel matching_files_op::bound() {
    return kernel([](const kernel_args& a) {
        std::vector<std::string> found;
        try {
            found = detail::expand_pattern(detail::permitted_path(a, 0));
            if (found.size() == 1 && !file_system::real().exists(found[0])) found.clear(); // a name without wildcards
        } catch (const not_found&) {} // no such file or directory
        any_array all(dtype::string, dims{static_cast<index_t>(found.size())});
        std::move(found.begin(), found.end(), static_cast<std::string*>(all.mutable_data()));
        a.sized[0] = std::move(all);
    });
}

}} // namespace rill::RILL_ABI
#endif
