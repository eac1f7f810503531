// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/queue/queue_op.hpp>
#include <rill/resources/reader_state.hpp>

namespace rill { inline namespace RILL_ABI {

/// Reads the next record of the files in a queue as key and value. It waits while there is no file. Fails with `out_of_range` if the queue
/// is closed and no record is left.
struct reader_read_op : detail::resource_user {
    static constexpr auto name = "ReaderReadV2", label = "read";
    static constexpr int inputs = 2; // the handles of the reader and of the queue
    static constexpr bool is_async = true, has_dynamic_outputs = true, consumes = true;
    static constexpr auto no_gradient = "gradients end at a file";

    input_list host_inputs() const { return {0, 1}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const {
        return {{dtype::string, dims{}}, {dtype::string, dims{}}};
    }
    template <class D, class T> kernel bind(kernel_request&) const { return bound(); }

private:
    static kernel bound();
};

/// Reads at most n records, all from the same file, as keys and values.
struct reader_read_up_to_op : detail::resource_user {
    static constexpr auto name = "ReaderReadUpToV2", label = "read_up_to";
    static constexpr int inputs = 3; // the two handles, and n
    static constexpr bool is_async = true, has_dynamic_outputs = true, consumes = true;
    static constexpr auto no_gradient = "gradients end at a file";

    input_list host_inputs() const { return {0, 1, 2}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const {
        detail::check_count_operand(in[2], "the number of records");
        return {{dtype::string, dims{dyn}}, {dtype::string, dims{dyn}}};
    }
    template <class D, class T> kernel bind(kernel_request& r) const { return bound(r); }

private:
    static kernel bound(const kernel_request& r);
};

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

namespace detail {

inline std::shared_ptr<element_queue> file_queue_of(const kernel_args& a) {
    auto files = resource_as<element_queue>(*a.in<std::int64_t>(1), a.step ? a.step->incarnation : 0);
    const tensor_type name{dtype::string, dims{}};
    require_components(files->named(), files->components(), {&name, 1});
    return files;
}

inline const file_access* files_of(const kernel_args& a) { return a.step ? a.step->files : nullptr; }

} // namespace detail

RILL_INLINE kernel reader_read_op::bound() {
    return kernel([](const kernel_args& a) {
        detail::resource_of<detail::reader_state>(a)->read(detail::file_queue_of(a), -1, detail::files_of(a), *a.wait,
                                                           a.sized);
    });
}

RILL_INLINE kernel reader_read_up_to_op::bound(const kernel_request& r) {
    return kernel([type = r.inputs[2].type](const kernel_args& a) {
        const index_t most = detail::count_of(type, a.in<void>(2));
        if (most < 0) throw invalid_argument(std::to_string(most) + " records are asked for");
        detail::resource_of<detail::reader_state>(a)->read(detail::file_queue_of(a), most, detail::files_of(a), *a.wait,
                                                           a.sized);
    });
}

}} // namespace rill::RILL_ABI
#endif
