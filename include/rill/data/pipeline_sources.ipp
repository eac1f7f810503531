// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/data/pipeline.hpp>

#include <algorithm>
#include <functional>
#include <utility>

#include <rill/core/host_array.hpp>
#include <rill/core/shape_rules.hpp>
#include <rill/data/pipeline.ipp>
#include <rill/resources/element_slots.hpp>

// Sources in memory.

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE any_array array_slice(const any_array& a, index_t k) {
    const dims shape = rules::slice(a.shape());
    const auto* const from =
        static_cast<const std::byte*>(a.data()) + static_cast<std::size_t>(k * shape.size()) * size_of(a.dtype());
    return any_array(a.dtype(), shape, from, std::make_shared<const any_array>(a));
}

class slices_iterator final : public counted_iterator {
public:
    slices_iterator(element_arrays values, bool slices) : slices_(slices), values_(std::move(values)) {
        if (!slices) return;
        for (const auto& v : values_) {
            if (v.shape().rank == 0 || v.shape()[0] != values_[0].shape()[0])
                throw invalid_argument("dataset: slices are along one first axis; " + to_string(values_[0].type()) +
                                       " and " + to_string(v.type()) + " have none in common");
            owners_.push_back(std::make_shared<const any_array>(v));
        }
    }
    bool next(element_arrays& to, const pull_context&) override {
        if (at_ >= (slices_ ? values_[0].shape()[0] : 1)) return false;
        to.clear();
        for (std::size_t i = 0; i < values_.size(); ++i)
            to.push_back(slices_
                             ? any_array(values_[i].dtype(), rules::slice(values_[i].shape()), address(i), owners_[i])
                             : values_[i]);
        ++at_;
        return true;
    }

private:
    const void* address(std::size_t i) const {
        const auto elements = static_cast<std::size_t>(at_ * rules::slice(values_[i].shape()).size());
        return static_cast<const std::byte*>(values_[i].data()) + elements * size_of(values_[i].dtype());
    }

    const bool slices_;
    element_arrays values_;
    std::vector<std::shared_ptr<const any_array>> owners_;
};

inline std::vector<tensor_type> types_of_elements(std::span<const tensor_type> whole, bool slices) {
    std::vector<tensor_type> all;
    for (const auto& t : whole) all.push_back({t.type, slices ? rules::slice(t.shape) : t.shape});
    return all;
}

inline element_source_ptr array_source(element_arrays values, bool slices) {
    if (values.empty()) throw invalid_argument("dataset: no values were given");
    std::vector<tensor_type> types;
    std::string shapes;
    for (const auto& v : values) {
        types.push_back(v.type());
        shapes += (shapes.empty() ? "" : ", ") + to_string(v.type());
    }
    slices_iterator(values, slices); // checks the extents
    return make_source(
        types_of_elements(types, slices), (slices ? "slices(" : "tensors(") + shapes + ")", false,
        [values, slices](const iterate_request&) { return std::make_unique<slices_iterator>(values, slices); });
}

RILL_COLD element_source_ptr tensor_source(element_arrays values) { return array_source(std::move(values), false); }
RILL_COLD element_source_ptr slices_source(element_arrays values) { return array_source(std::move(values), true); }

RILL_COLD element_source_ptr input_source(const std::vector<tensor_type>& types, bool slices) {
    return make_source(
        types_of_elements(types, slices), (slices ? "slices(" : "tensors(") + tuple_text(types) + ")", false,
        [slices, n = types.size()](const iterate_request& r) {
            if (r.inputs.size() != n)
                throw failed_precondition("dataset: it is made of tensors of a graph; only an initializer, "
                                          "which make_initializer makes, can begin it");
            return std::make_unique<slices_iterator>(element_arrays(r.inputs.begin(), r.inputs.end()), slices);
        });
}

class range_iterator final : public counted_iterator {
public:
    range_iterator(std::int64_t start, std::int64_t step, std::int64_t count)
        : start_(start), step_(step), count_(count) {}
    bool next(element_arrays& to, const pull_context&) override {
        if (at_ >= count_) return false;
        // modulo 2^64: step * at may overflow although the value does not
        const auto value = static_cast<std::int64_t>(
            static_cast<std::uint64_t>(start_) + static_cast<std::uint64_t>(step_) * static_cast<std::uint64_t>(at_++));
        to.assign(1, single_element(dtype::int64, &value));
        return true;
    }

private:
    const std::int64_t start_, step_, count_;
};

RILL_COLD element_source_ptr range_source(std::int64_t start, std::int64_t stop, std::int64_t step) {
    if (step == 0) throw invalid_argument("dataset::range: the step is 0");
    const bool is_empty = step > 0 ? stop <= start : stop >= start;
    const auto first = static_cast<std::uint64_t>(start), last = static_cast<std::uint64_t>(stop),
               stride = static_cast<std::uint64_t>(step); // differences may exceed 2^63
    const std::uint64_t numbers = is_empty   ? 0
                                  : step > 0 ? (last - first - 1) / stride + 1
                                             : (first - last - 1) / (0 - stride) + 1;
    const auto count = static_cast<std::int64_t>(std::min(numbers, ~std::uint64_t(0) >> 1));
    return make_source(
        {{dtype::int64, dims{}}},
        "range(" + std::to_string(start) + ", " + std::to_string(stop) + ", " + std::to_string(step) + ")", false,
        [=](const iterate_request&) { return std::make_unique<range_iterator>(start, step, count); });
}

class generator_iterator final : public counted_iterator {
public:
    explicit generator_iterator(std::function<bool(element_arrays&)> f) : f_(std::move(f)) {}
    bool is_ready() override { return false; }
    bool next(element_arrays& to, const pull_context& context) override {
        const auto call = [&] { return f_(to); };
        while (to_skip_ > 0) {
            context.check();
            try {
                if (!context.without_locks(call)) is_over_ = true, to_skip_ = 1;
            } catch (...) {} // an error before the saved position was already reported
            --to_skip_;
        }
        if (is_over_) return false;
        try {
            is_over_ = !context.without_locks(call);
        } catch (...) {
            ++at_; // a throwing call counts too
            throw;
        }
        ++at_;
        return !is_over_;
    }
    void restore(iterator_archive& from, const pull_context& context) override {
        counted_iterator::restore(from, context);
        to_skip_ = at_;
    }

private:
    std::function<bool(element_arrays&)> f_;
    std::int64_t to_skip_ = 0;
    bool is_over_ = false;
};

RILL_COLD element_source_ptr generator_source(std::vector<tensor_type> components,
                                              std::function<std::function<bool(element_arrays&)>()> begin) {
    return make_source(std::move(components), "generator", true, [begin = std::move(begin)](const iterate_request&) {
        return std::make_unique<generator_iterator>(begin());
    });
}

}}} // namespace rill::RILL_ABI::detail
