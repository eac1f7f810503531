// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include <rill/ops/array/indices.hpp>
#include <rill/ops/sync/replica_gradients_put.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Divides n elements by a count.
template <class T> void divide_gradient(void* values, index_t n, index_t count) {
    using wide = compute_type<T>;
    auto* const all = static_cast<T*>(values);
    for (index_t i = 0; i < n; ++i) all[i] = static_cast<T>(static_cast<wide>(all[i]) / static_cast<wide>(count));
}

/// A sum of rows by id. The result has each id once, in order of first appearance. `row`: the number of elements of a row.
template <class T, class I> class row_sums {
public:
    explicit row_sums(index_t row) : row_(row) {}

    void add(const T* rows, const I* ids, index_t count) {
        for (index_t k = 0; k < count; ++k) {
            const auto [at, is_new] =
                places_.try_emplace(static_cast<std::int64_t>(ids[k]), static_cast<index_t>(ids_.size()));
            const T* const from = rows + k * row_;
            if (is_new) {
                ids_.push_back(ids[k]);
                rows_.insert(rows_.end(), from, from + row_);
            } else {
                add_elements<T>(from, rows_.data() + at->second * row_, row_);
            }
        }
    }
    /// Adds the rows of another sum.
    void add(const row_sums& other) {
        add(other.rows_.data(), other.ids_.data(), static_cast<index_t>(other.ids_.size()));
    }
    const std::vector<T>& rows() const { return rows_; }
    const std::vector<I>& ids() const { return ids_; }

private:
    index_t row_;
    std::vector<T> rows_;
    std::vector<I> ids_;
    std::unordered_map<std::int64_t, index_t> places_;
};

/// Returns the mean of dense gradients, in the memory of the first.
template <class T> any_array mean_of(std::vector<replica_gradients_state::gradients>&& all) {
    any_array sum = std::move(all[0].values);
    index_t count = all[0].count;
    for (std::size_t k = 1; k < all.size(); ++k) {
        add_elements<T>(all[k].values.data(), sum.mutable_data(), sum.size());
        count += all[k].count;
    }
    divide_gradient<T>(sum.mutable_data(), sum.size(), count);
    return sum;
}

/// Puts the mean of gradients by rows into out[0], and the ids of the rows into out[1]. Rows that a replica lacks count as zero there.
template <class T, class I>
void mean_of_rows(const std::vector<replica_gradients_state::gradients>& all, const dims& table, any_array* out) {
    const dims one = rules::slice(table);
    row_sums<T, I> sum(one.size());
    for (const auto& g : all) {
        row_sums<T, I> own(one.size()); // first within the replica, like its dense gradient
        own.add(static_cast<const T*>(g.values.data()), static_cast<const I*>(g.ids.data()), g.ids.size());
        sum.add(own);
    }
    const auto count = static_cast<index_t>(sum.ids().size());
    out[0] = any_array(dtype_of<T>, rules::gather(table, dims{count}, 0).shape);
    out[1] = any_array(dtype_of<I>, dims{count});
    std::copy(sum.rows().begin(), sum.rows().end(), static_cast<T*>(out[0].mutable_data()));
    std::copy(sum.ids().begin(), sum.ids().end(), static_cast<I*>(out[1].mutable_data()));
    divide_gradient<T>(out[0].mutable_data(), out[0].size(), static_cast<index_t>(all.size()));
}

} // namespace detail

/// Takes the gradients of a round, and returns their mean: dense, or the rows of any replica with their ids. It adds them in the order of
/// the given run ids. Never waits.
struct replica_gradients_take_op : detail::resource_user {
    static constexpr auto name = "ReplicaGradientsTake";
    static constexpr int inputs = 3; // the handle, the round, the ids of runs
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    static constexpr bool has_dynamic_outputs = true, consumes = true;
    static constexpr auto no_gradient = "gradients end at an accumulator";
    detail::replica_gradients_traits traits;

    static void fields(auto& op, auto& visit) {
        visit("dtype", op.traits.type.type);
        visit("shape", op.traits.type.shape);
        visit("ids", op.traits.ids);
    }
    input_list host_inputs() const { return {0, 1, 2}; }
    dtype kernel_type(std::span<const tensor_type>, std::span<const tensor_type>) const { return traits.type.type; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const {
        detail::check_count_operand(in[1], "the round");
        if (!traits.is_rows()) return {traits.type};
        return {{traits.type.type, rules::gather(traits.type.shape, dims{dyn}, 0).shape}, {traits.ids, dims{dyn}}};
    }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return kernel([of = traits, step = r.inputs[1].type, count = r.inputs[2].shape.size()](const kernel_args& a) {
            auto all = detail::resource_of<detail::replica_gradients_state>(a)->take(
                detail::count_of(step, a.in<void>(1)), {a.in<std::int64_t>(2), static_cast<std::size_t>(count)});
            if (!of.is_rows())
                a.sized[0] = detail::mean_of<T>(std::move(all));
            else
                detail::with_index_type(of.ids, [&]<class I>(std::type_identity<I>) {
                    detail::mean_of_rows<T, I>(all, of.type.shape, a.sized);
                });
        });
    }
};

}} // namespace rill::RILL_ABI
