// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>

#include <rill/link/dynamic_runtime.hpp>
#include <rill/ops/array/indices.hpp>

namespace rill { inline namespace RILL_ABI {

/// Returns one more than the largest index, as an int64 of rank 0. This is the extent of the axis that the indices count along. Without
/// indices the result is 0. A negative index is invalid_argument. With `sorted`, so is an index below its predecessor. The host reads the
/// indices, because the result becomes an extent.
struct index_count_op {
    static constexpr auto name = "IndexCount";
    static constexpr int inputs = 1;
    using domain_type = domains::index;
    using compiled_types = types::numbers;
    static constexpr auto no_gradient = ""; // indices have none
    bool sorted = false;
    index_t least = 0, most = -1; // bounds of the result; most = -1 means unbounded

    static void fields(auto& op, auto& visit) {
        visit("sorted", op.sorted);
        visit("least", op.least);
        visit("most", op.most);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    static input_list host_inputs() { return {0}; }

    template <class D, class T> kernel bind(kernel_request& request) const {
        return kernel([shape = request.inputs[0].shape, op = *this](const kernel_args& a) {
            const T* const ids = a.in<T>(0);
            const index_t n = shape.size();
            bool good = true; // accumulated without branches, so that the loop vectorizes
            for (index_t i = 0; i < n; ++i) good &= ids[i] >= 0;
            if (op.sorted)
                for (index_t i = 1; i < n; ++i) good &= ids[i] >= ids[i - 1];
            if (!good) op.refuse(shape, [&](index_t i) { return static_cast<index_t>(ids[i]); });
            index_t largest = -1;
            for (index_t i = 0; i < n; ++i) largest = std::max(largest, static_cast<index_t>(ids[i]));
            if (largest < std::numeric_limits<index_t>::max()) ++largest; // a larger one is refused as an extent
            index_t count = std::max(largest, op.least);
            if (op.most >= 0) count = std::min(count, op.most);
            D::fill(a.on, 1, a.out<std::int64_t>(0), static_cast<std::int64_t>(count));
        });
    }

private:
    template <class At> [[noreturn]] void refuse(const dims& shape, const At& at) const {
        index_t i = 0;
        while (at(i) >= 0 && !(sorted && i > 0 && at(i) < at(i - 1))) ++i;
        refuse(at(i), i > 0 ? at(i - 1) : 0, i, shape);
    }
    [[noreturn]] static void refuse(index_t id, index_t before, index_t at, const dims& shape);
};

/// Returns one more than the largest index: index_count(ids). index_count(ids, {.sorted = true}) also checks that the
/// ids never decrease.
template <graph_operand Ids>
tensor<std::int64_t> index_count(const Ids& ids, const index_count_op& how = {},
                                 const std::source_location& where = std::source_location::current()) {
    static_assert(are_ids<Ids>, "index_count: the ids must be int or std::int64_t");
    return {detail::unchecked, apply_node(how, where, ids)};
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> index_count_op::outputs(std::span<const tensor_type> in) const {
    detail::check_index_type(in[0].type, "the ids");
    if (sorted && in[0].shape.known_rank() && in[0].shape.rank != 1) throw invalid_argument("sorted ids are of rank 1");
    return {{dtype::int64, dims{}}};
}

RILL_COLD void index_count_op::refuse(index_t id, index_t before, index_t at, const dims& shape) {
    const std::string what = "id " + std::to_string(id) + " at " + to_string(rules::position_of(at, shape));
    if (id < 0) throw invalid_argument(what + " is negative");
    throw invalid_argument(what + " is less than the one before it, " + std::to_string(before) +
                           ": sorted ids are expected (the unsorted_segment ops take any)");
}

}} // namespace rill::RILL_ABI
#endif
