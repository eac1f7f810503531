// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/file_access.hpp>
#include <rill/ops/table/table_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// Fills a table from a text file with one word per line. A filled table stays unchanged. The table maps words to line numbers, or
/// line numbers to words. The op reads the file when it runs; the path is an operand.
struct initialize_table_op : detail::resource_user {
    static constexpr auto name = "InitializeTableFromTextFileV2", label = "initialize_table";
    static constexpr int inputs = 2;
    static constexpr auto no_gradient = ""; // the op has no outputs

    input_list host_inputs() const { return {0, 1}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const {
        if (in[1].type != dtype::string || (in[1].shape.known_rank() && in[1].shape.rank != 0))
            throw invalid_argument("the path must be a string of rank 0, not " + to_string(in[1]));
        return {};
    }
    template <class D, class T> kernel bind(kernel_request&) const {
        return kernel([](const kernel_args& a) {
            const auto& path = *a.in<std::string>(1);
            if (a.step->files) a.step->files->check(path);
            detail::table_of(a)->fill_from(path);
        });
    }
};

}} // namespace rill::RILL_ABI
