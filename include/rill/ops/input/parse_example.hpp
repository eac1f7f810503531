// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <rill/core/host_array.hpp>
#include <rill/io/example.hpp>
#include <rill/io/wire.hpp>
#include <rill/link/dynamic_runtime.hpp>
#include <rill/ops/string/text.hpp>

namespace rill { inline namespace RILL_ABI {

/// Parses serialized tf.train.Examples. A feature of fixed length gives a tensor whose shape is that of the strings, then its own. A
/// feature of variable length is sparse: the indices [n, rank], the values [n], and the dense shape [rank].
struct parse_example_op {
    static constexpr auto name = "ParseExample", label = "parse_example";
    static constexpr int inputs = 1;
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    static constexpr bool has_dynamic_outputs = true;
    static constexpr auto no_gradient = "bytes do not change smoothly";
    struct feature {
        std::string key = {};
        tensor_type type = {};
        bool any_length = false, has_default = false;
        any_array value = {}; // the default, with the feature's dtype
    };
    std::vector<feature> features;

    static void fields(auto& op, auto& visit) {
        auto count = static_cast<std::int32_t>(op.features.size());
        visit("features", count);
        check_feature_count(count);
        op.features.resize(static_cast<std::size_t>(count));
        for (std::size_t i = 0; i < op.features.size(); ++i) {
            const auto number = std::to_string(i);
            auto& f = op.features[i];
            visit(("key_" + number).c_str(), f.key);
            visit(("dtype_" + number).c_str(), f.type.type);
            visit(("shape_" + number).c_str(), f.type.shape);
            visit(("any_length_" + number).c_str(), f.any_length);
            visit(("has_default_" + number).c_str(), f.has_default);
            visit(("default_" + number).c_str(), f.value);
        }
    }
    input_list host_inputs() const { return {0}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request& r) const { return bound(r); }

private:
    static void check_feature_count(std::int32_t count);
    kernel bound(const kernel_request& r) const;
};

/// A feature of type T with fixed extents, for parse_example: fixed_len_feature<float, 4>("x"), or with a default: ("x",
/// value).
template <class T, index_t... D> class fixed_len_feature {
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, std::int64_t> || std::is_same_v<T, std::string>,
                  "fixed_len_feature: an Example holds float, std::int64_t and std::string");
    static_assert(((D != dyn) && ...), "fixed_len_feature: every extent is known; take a var_len_feature");

public:
    explicit fixed_len_feature(std::string key) : key_(std::move(key)) {}
    /// Sets the default for Examples without the feature, repeated for each element.
    fixed_len_feature(std::string key, T otherwise) : key_(std::move(key)), default_(std::move(otherwise)) {}

    parse_example_op::feature described() const {
        any_array value(dtype_of<T>, extents<D...>::value);
        std::fill_n(static_cast<T*>(value.mutable_data()), value.size(), default_.value_or(T()));
        return {key_, {dtype_of<T>, extents<D...>::value}, false, default_.has_value(), std::move(value)};
    }
    template <class E> static auto result(const node* n, int& port) {
        return result_with(static_cast<E*>(nullptr), n, port);
    }

private:
    template <index_t... B> static auto result_with(extents<B...>*, const node* n, int& port) {
        return std::tuple(tensor<T, B..., D...>(detail::unchecked, any_tensor(endpoint{n, port++})));
    }

    std::string key_;
    std::optional<T> default_;
};

/// A feature of type T with variable length, for parse_example. It gives three tensors: (indices, values, dense_shape).
template <class T> class var_len_feature {
public:
    explicit var_len_feature(std::string key) : key_(std::move(key)) {}

    parse_example_op::feature described() const {
        return {key_, {dtype_of<T>, dims{dyn}}, true, false, any_array(dtype_of<T>, dims{0})};
    }
    template <class E> static auto result(const node* n, int& port) {
        const tensor<std::int64_t, dyn, E::rank + 1> indices(detail::unchecked, any_tensor(endpoint{n, port++}));
        const tensor<T, dyn> values(detail::unchecked, any_tensor(endpoint{n, port++}));
        const tensor<std::int64_t, E::rank + 1> shape(detail::unchecked, any_tensor(endpoint{n, port++}));
        return std::tuple(indices, values, shape);
    }

private:
    std::string key_;
};

/// Parses Examples: auto [x, label] = parse_example(bytes, fixed_len_feature<float, 4>("x"), fixed_len_feature<std::int64_t>("label", 0)).
/// A string of rank 0 is one Example, a vector of strings is a batch. A var_len_feature adds three tensors to the tuple.
template <typed_operand X, class... F> auto parse_example(const X& serialized, const F&... features) {
    static_assert(same_dtype<value_type_of<X>, std::string> && extents_of<X>::rank <= 1,
                  "parse_example: the Examples are a std::string, or a vector of them");
    parse_example_op op;
    op.features = {features.described()...};
    const node* n = apply_node(op, std::source_location(), serialized).node();
    int port = 0;
    using parts = std::tuple<decltype(F::template result<extents_of<X>>(n, port))...>;
    const parts all{F::template result<extents_of<X>>(n, port)...};
    return std::apply([](const auto&... each) { return std::tuple_cat(each...); }, all);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

namespace detail {

/// The values of a feature, with the dtype of the feature.
struct feature_values {
    const void* data = nullptr;
    std::size_t count = 0;

    feature_values(const example_feature& f, dtype type, const std::string& key) {
        const auto all = f.texts.size() + f.floats.size() + f.numbers.size();
        if (type == dtype::string)
            data = f.texts.data(), count = f.texts.size();
        else if (type == dtype::float32)
            data = f.floats.data(), count = f.floats.size();
        else
            data = f.numbers.data(), count = f.numbers.size();
        if (count != all) throw invalid_argument("the feature '" + key + "' is not of " + std::string(to_string(type)));
    }
};

} // namespace detail

RILL_COLD void parse_example_op::check_feature_count(std::int32_t count) {
    if (count < 0 || count > 10'000) throw invalid_argument("an Example of " + std::to_string(count) + " features");
}

RILL_COLD std::vector<tensor_type> parse_example_op::outputs(std::span<const tensor_type> in) const {
    detail::check_text(in[0], "the Examples");
    const dims& batch = in[0].shape;
    if (!batch.known_rank() || batch.rank > 1) throw invalid_argument("the Examples are one text, or a vector of them");
    std::vector<tensor_type> all;
    for (const auto& f : features) {
        if (f.type.type != dtype::float32 && f.type.type != dtype::int64 && f.type.type != dtype::string)
            throw invalid_argument("the feature '" + f.key + "' is of " + std::string(to_string(f.type.type)) +
                                   "; an Example holds float32, int64 and string");
        if (f.any_length) {
            all.push_back({dtype::int64, dims{dyn, batch.rank + 1}});
            all.push_back({f.type.type, dims{dyn}});
            all.push_back({dtype::int64, dims{batch.rank + 1}});
            continue;
        }
        if (!f.type.shape.complete() || f.value.type() != f.type)
            throw invalid_argument("the feature '" + f.key + "' is " + to_string(f.type) + ", its default " +
                                   to_string(f.value.type()));
        tensor_type t{f.type.type, batch};
        for (int i = 0; i < f.type.shape.rank; ++i) t.shape.push(f.type.shape[i]);
        all.push_back(t);
    }
    return all;
}

namespace detail {

using parsed_examples = std::vector<example_features>;

inline feature_values values_of(const parsed_examples& all, std::size_t i, const parse_example_op::feature& f) {
    static const example_feature none;
    return with_prefix("Example " + std::to_string(i), [&] {
        const auto at = all[i].find(f.key);
        return feature_values(at == all[i].end() ? none : at->second, f.type.type, f.key);
    });
}

/// Stores a feature of variable length in three outputs: indices, values, dense shape.
inline void store_sparse_feature(const parsed_examples& all, const parse_example_op::feature& f, const dims& batch,
                                 any_array* out) {
    index_t total = 0, longest = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto n = static_cast<index_t>(values_of(all, i, f).count);
        total += n;
        longest = std::max(longest, n);
    }
    const index_t rank = batch.rank + 1;
    out[0] = any_array(dtype::int64, dims{total, rank});
    out[1] = any_array(f.type.type, dims{total});
    out[2] = any_array(dtype::int64, dims{rank});
    auto* index = static_cast<std::int64_t*>(out[0].mutable_data());
    auto* to = static_cast<std::byte*>(out[1].mutable_data());
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto from = values_of(all, i, f);
        copy_elements(f.type.type, from.data, to, static_cast<index_t>(from.count));
        to += from.count * size_of(f.type.type);
        for (std::size_t k = 0; k < from.count; ++k) {
            if (rank == 2) *index++ = static_cast<std::int64_t>(i);
            *index++ = static_cast<std::int64_t>(k);
        }
    }
    auto* const extent = static_cast<std::int64_t*>(out[2].mutable_data());
    if (rank == 2) extent[0] = batch.size();
    extent[rank - 1] = longest;
}

/// Stores a feature of fixed length in one output.
inline void store_dense_feature(const parsed_examples& all, const parse_example_op::feature& f, const dims& batch,
                                any_array* out) {
    dims whole = batch;
    for (int i = 0; i < f.type.shape.rank; ++i) whole.push(f.type.shape[i]);
    any_array made(f.type.type, whole);
    auto* to = static_cast<std::byte*>(made.mutable_data());
    const auto count = static_cast<std::size_t>(f.type.shape.size());
    for (std::size_t i = 0; i < all.size(); ++i, to += count * size_of(f.type.type)) {
        const auto from = values_of(all, i, f);
        const bool is_there = from.count > 0 || count == 0;
        if (is_there ? from.count != count : !f.has_default)
            throw invalid_argument("Example " + std::to_string(i) + ": the feature '" + f.key + "' has " +
                                   std::to_string(from.count) + " values, " + std::to_string(count) + " expected");
        copy_elements(f.type.type, is_there ? from.data : f.value.data(), to, static_cast<index_t>(count));
    }
    *out = std::move(made);
}

} // namespace detail

RILL_INLINE kernel parse_example_op::bound(const kernel_request& r) const {
    return kernel([wanted = features, batch = r.inputs[0].shape](const kernel_args& a) {
        detail::parsed_examples all;
        for (index_t i = 0; i < batch.size(); ++i)
            all.push_back(detail::with_prefix("Example " + std::to_string(i),
                                              [&] { return parse_example_bytes(a.in<std::string>(0)[i]); }));
        any_array* out = a.sized;
        for (const auto& f : wanted) {
            (f.any_length ? detail::store_sparse_feature : detail::store_dense_feature)(all, f, batch, out);
            out += f.any_length ? 3 : 1;
        }
    });
}

}} // namespace rill::RILL_ABI
#endif
