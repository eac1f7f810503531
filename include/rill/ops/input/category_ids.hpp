// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <rill/core/any_array.hpp>
#include <rill/expr/node_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// Maps values to category ids, as int64 of the values' shape, by boundaries, a vocabulary, or a hash. Several inputs are crossed: one hash
/// covers all of them.
struct category_ids_op {
    static constexpr auto name = "CategoryIds", label = "category_ids";
    static constexpr int least_inputs = 1;
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    static constexpr auto no_gradient = "categories don't change smoothly";
    /// The mapping rule. "buckets": the number of boundaries that are not above the value. "vocabulary": the position of the value in a
    /// list, else -1. "classes": the same, but a missing value is an error. "hash": a hash of the value as text. "identity": the value
    /// itself.
    std::string rule = "identity";
    any_array list = any_array(dtype::string, dims{0}); // float64 boundaries, or a vocabulary of string or int64
    std::int64_t categories = 0;

    static void fields(auto& op, auto& visit) {
        visit("rule", op.rule);
        visit("list", op.list);
        visit("categories", op.categories);
    }
    input_list host_inputs() const { return {0, 1, 2, 3, 4, 5}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request& r) const { return bound(r); }

private:
    kernel bound(const kernel_request& r) const;
};

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include <rill/core/fingerprint.hpp>
#include <rill/core/hash.hpp>
#include <rill/core/number_text.hpp>
#include <rill/core/shape_rules.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// A view of an element of a feature, as a number or as text.
class category_value {
public:
    category_value(const any_array& a, index_t i) : array_(a), at_(static_cast<std::size_t>(i)) {}
    double number() const {
        switch (array_.dtype()) {
        case dtype::float32: return static_cast<double>(array_.elements<float>()[at_]);
        case dtype::float64: return array_.elements<double>()[at_];
        case dtype::int32: return array_.elements<std::int32_t>()[at_];
        case dtype::int64: return static_cast<double>(array_.elements<std::int64_t>()[at_]);
        default: throw invalid_argument("a number is expected, not string");
        }
    }
    std::int64_t whole() const {
        if (array_.dtype() == dtype::int64) return array_.elements<std::int64_t>()[at_];
        const double value = number();
        if (!(std::abs(value) < 9e15) || value != std::floor(value))
            throw invalid_argument(std::to_string(value) + " is not a whole number");
        return static_cast<std::int64_t>(value);
    }
    std::string text() const {
        return array_.dtype() == dtype::string ? array_.elements<std::string>()[at_] : std::to_string(whole());
    }

private:
    const any_array& array_;
    const std::size_t at_;
};

} // namespace detail

RILL_COLD std::vector<tensor_type> category_ids_op::outputs(std::span<const tensor_type> in) const {
    const bool has_words = rule == "vocabulary" || rule == "classes", is_listed = rule == "buckets" || has_words;
    if (!is_listed && rule != "hash" && rule != "identity")
        throw invalid_argument("the rule is '" + rule +
                               R"('; accepted are "buckets", "vocabulary", "classes", "hash" and "identity")");
    if (!is_listed && categories < 1)
        throw invalid_argument("there are " + std::to_string(categories) + " categories; 1 or more are needed");
    if (in.size() > 1 && rule != "hash") throw invalid_argument("only hashes cross several inputs");
    if (in.size() > 6) throw invalid_argument("at most 6 inputs are crossed");
    if (rule == "buckets") {
        if (list.dtype() != dtype::float64)
            throw invalid_argument("boundaries are float64, not " + to_string(list.type()));
        const auto all = list.elements<double>();
        if (!std::is_sorted(all.begin(), all.end())) throw invalid_argument("the boundaries must ascend");
    }
    if (has_words) {
        std::unordered_map<std::string, index_t> seen;
        for (index_t i = 0; i < list.size(); ++i)
            if (!seen.try_emplace(detail::category_value(list, i).text(), i).second)
                throw invalid_argument("the vocabulary has " + detail::quoted(detail::category_value(list, i).text()) +
                                       " twice");
    }
    dims shape = in[0].shape;
    for (const auto& t : in) {
        if (t.type != dtype::float32 && t.type != dtype::float64 && t.type != dtype::int32 && t.type != dtype::int64 &&
            t.type != dtype::string)
            throw invalid_argument("values are float32, float64, int32, int64 or string, not " + to_string(t));
        if (!rules::compatible(shape, t.shape))
            throw invalid_argument("crossed inputs have one shape; " + to_string(shape) + " and " + to_string(t.shape) +
                                   " differ");
        if (!shape.known_rank() || (t.shape.known_rank() && t.shape.complete())) shape = t.shape;
    }
    return {{dtype::int64, shape}};
}

RILL_INLINE kernel category_ids_op::bound(const kernel_request& r) const {
    std::unordered_map<std::string, std::int64_t> known;
    if (rule == "vocabulary" || rule == "classes")
        for (index_t i = 0; i < list.size(); ++i) known.emplace(detail::category_value(list, i).text(), i);
    return kernel([op = *this, known = std::move(known),
                   types = std::vector<tensor_type>(r.inputs.begin(), r.inputs.end())](const kernel_args& a) {
        std::vector<any_array> in;
        for (std::size_t i = 0; i < types.size(); ++i) in.push_back(a.array(types[i], static_cast<int>(i)));
        const auto n = static_cast<std::uint64_t>(op.categories);
        for (index_t i = 0, count = types[0].shape.size(); i < count; ++i) {
            const detail::category_value value(in[0], i);
            auto& to = a.out<std::int64_t>(0)[i];
            if (op.rule == "buckets") {
                const auto all = op.list.elements<double>();
                to = std::upper_bound(all.begin(), all.end(), value.number()) - all.begin();
            } else if (op.rule == "vocabulary" || op.rule == "classes") {
                const auto at = known.find(value.text());
                to = at == known.end() ? -1 : at->second;
                if (to < 0 && op.rule == "classes")
                    throw invalid_argument(detail::quoted(value.text()) + " at " + std::to_string(i) +
                                           " is not one of the " + std::to_string(known.size()) + " classes");
            } else if (op.rule == "hash") {
                std::uint64_t hash = detail::fingerprint::of(value.text()); // as in TensorFlow
                for (std::size_t k = 1; k < in.size(); ++k)
                    hash = detail::hash_combine(hash, detail::hash_bytes(detail::category_value(in[k], i).text()));
                to = static_cast<std::int64_t>(hash % n);
            } else {
                to = value.whole();
                if (to < 0 || to >= op.categories)
                    throw invalid_argument("category " + std::to_string(to) + " at " + std::to_string(i) +
                                           " is not one of the " + std::to_string(op.categories) + " categories");
            }
        }
    });
}

}} // namespace rill::RILL_ABI
#endif
