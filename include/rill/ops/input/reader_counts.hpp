// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/state/resource_op.hpp>
#include <rill/resources/reader_state.hpp>

namespace rill { inline namespace RILL_ABI {

/// Drops the current file of a reader and sets its counts to zero.
struct reader_reset_op : detail::resource_user {
    static constexpr auto name = "ReaderResetV2", label = "reset";
    static constexpr int inputs = 1;
    static constexpr auto no_gradient = ""; // the op has no outputs

    std::vector<tensor_type> outputs(std::span<const tensor_type>) const { return {}; }
    template <class D, class T> kernel bind(kernel_request&) const {
        return kernel([](const kernel_args& a) { detail::resource_of<detail::reader_state>(a)->reset(); });
    }
};

/// Returns the number of records that a reader has produced.
struct reader_num_records_produced_op
    : detail::resource_question<&detail::reader_state::records_produced, std::int64_t> {
    static constexpr auto name = "ReaderNumRecordsProducedV2", label = "num_records_produced";
};

/// Returns the number of files that a reader has finished.
struct reader_num_work_units_completed_op
    : detail::resource_question<&detail::reader_state::work_units_completed, std::int64_t> {
    static constexpr auto name = "ReaderNumWorkUnitsCompletedV2", label = "num_work_units_completed";
};

/// Returns the number of damaged records that a reader has skipped.
struct reader_num_records_skipped_op : detail::resource_question<&detail::reader_state::records_skipped, std::int64_t> {
    static constexpr auto name = "ReaderNumRecordsSkipped", label = "num_records_skipped";
};

}} // namespace rill::RILL_ABI
