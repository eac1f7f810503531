// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <rill/data/dataset_of.hpp>
#include <rill/data/file_sources.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// True for tensors of a graph whose values only an initializer computes.
template <class X>
inline constexpr bool is_graph_value = graph_operand<X> && !is_constant_value<std::remove_cvref_t<X>>;

template <class X> struct sliced_component;
template <class T, index_t First, index_t... D> struct sliced_component<tensor<T, First, D...>> {
    using type = tensor<T, D...>;
};
template <class T> struct sliced_component<tensor<T>> {
    static_assert(!same_dtype<T, T>, "from_tensor_slices: a number has no slices; it takes arrays of rank 1 or more");
    using type = tensor<T>;
};

template <class X> struct component_of_operand : component_of_value<std::remove_cvref_t<X>> {};
template <class X>
    requires(is_graph_value<X> && typed_operand<X>)
struct component_of_operand<X> {
    using type = tensor_of<value_type_of<X>, extents_of<X>>;
};

template <bool Slices, class... C, class... X>
element_source_ptr source_of_values(std::vector<any_tensor>& inputs, X&&... x) {
    if constexpr ((is_graph_value<X> && ...)) {
        inputs = {any_tensor(sealed(x))...};
        std::vector<tensor_type> types;
        for (const auto& i : inputs) types.push_back(type_of(i.end()));
        return input_source(types, Slices);
    } else {
        static_assert((!is_graph_value<X> && ...), "dataset: the values are arrays, or tensors of a graph, not both");
        element_arrays values{owned_array<C>(std::forward<X>(x))...};
        return Slices ? slices_source(std::move(values)) : tensor_source(std::move(values));
    }
}

/// Returns a function that stores the next element, or returns false at the end.
template <class... C, class Next> std::function<bool(element_arrays&)> until_nothing(components<C...> all, Next next) {
    return [all, next = std::move(next)](element_arrays& to) mutable {
        auto value = next();
        if (value) to = to_element(all, *std::move(value));
        return static_cast<bool>(value);
    };
}
template <class... C, class Range> std::function<bool(element_arrays&)> over_range(components<C...> all, Range range) {
    const auto values = std::make_shared<Range>(std::move(range));
    return [all, values, at = std::ranges::begin(*values)](element_arrays& to) mutable {
        if (at == std::ranges::end(*values)) return false;
        to = to_element(all, *at);
        ++at;
        return true;
    };
}

/// Returns the element type of a generator: that of a range, or of the optional that a callable returns.
template <class F> auto generated_value() {
    if constexpr (std::ranges::input_range<F>) {
        return std::type_identity<std::ranges::range_value_t<F>>();
    } else {
        using result = std::remove_cvref_t<std::invoke_result_t<F&>>;
        if constexpr (is_optional<result>)
            return std::type_identity<typename result::value_type>();
        else
            return generated_value<result>();
    }
}

/// Begins an epoch of a generator.
template <class... C, class F> std::function<bool(element_arrays&)> begin_generator(components<C...> all, F f) {
    if constexpr (std::ranges::input_range<F>)
        return over_range(all, std::move(f));
    else if constexpr (is_optional<std::remove_cvref_t<std::invoke_result_t<F&>>>)
        return until_nothing(all, std::move(f));
    else
        return begin_generator(all, f());
}

template <class... C, class F> dataset_of<C...> generator_of(components<C...> all, F f) {
    return dataset_of<C...>(
        generator_source(component_types(all), [all, f = std::move(f)] { return begin_generator(all, f); }));
}

template <class... A, class... B> auto joined_components(components<A...>, components<B...>) {
    return components<A..., B...>();
}
template <class... C> dataset_of<C...> dataset_with(components<C...>, element_source_ptr source) {
    return dataset_of<C...>(std::move(source));
}
template <class First> auto all_components(First first) { return first; }
template <class First, class Second, class... More> auto all_components(First a, Second b, More... more) {
    return all_components(joined_components(a, b), more...);
}

} // namespace detail

/// The functions that create datasets.
namespace dataset {

/// Creates a dataset of one element, the values themselves. They are host arrays, constants, or tensors for an initializable iterator.
template <class... X> auto from_tensors(X&&... x) {
    std::vector<any_tensor> inputs;
    auto source = detail::source_of_values<false, typename detail::component_of_operand<X>::type...>(
        inputs, std::forward<X>(x)...);
    return dataset_of<typename detail::component_of_operand<X>::type...>(std::move(source), std::move(inputs));
}
/// Creates a dataset of the slices along the first axes.
template <class... X> auto from_tensor_slices(X&&... x) {
    std::vector<any_tensor> inputs;
    auto source = detail::source_of_values<true, typename detail::component_of_operand<X>::type...>(
        inputs, std::forward<X>(x)...);
    return dataset_of<typename detail::sliced_component<typename detail::component_of_operand<X>::type>::type...>(
        std::move(source), std::move(inputs));
}
/// Creates a dataset of the numbers in [start, stop).
inline dataset_of<tensor<std::int64_t>> range(std::int64_t start, std::int64_t stop, std::int64_t step = 1) {
    return dataset_of<tensor<std::int64_t>>(detail::range_source(start, stop, step));
}
inline dataset_of<tensor<std::int64_t>> range(std::int64_t stop) { return range(0, stop); }

/// Creates a dataset of the elements of a range, or of the results of a callable. An empty std::optional ends the results. A result is a
/// value, or a tuple of several. Each epoch starts with a copy of the range or callable. A callable may also return a range, or a callable,
/// for each epoch.
template <class F> auto generator(F f) {
    using value = typename decltype(detail::generated_value<F>())::type;
    return detail::generator_of(detail::components_from<value>(), std::move(f));
}
/// Creates a dataset of a generator with explicit components: dataset::generator<tensor<float, 4>, int>(f).
template <class First, class... T, class F> auto generator(F f) {
    return detail::generator_of(detail::components<detail::component<First>, detail::component<T>...>(), std::move(f));
}

/// Creates a dataset with one component per column: dataset::csv<float, float, int>("iris.csv"). Errors name file, line and column.
template <class... T> auto csv(const file_list& files, const csv_dataset_options& options = {}) {
    return dataset_of<tensor<T>...>(detail::csv_source(files, {dtype_of<T>...}, options));
}
/// Creates a dataset of lines of text, without line ends.
inline dataset_of<tensor<std::string>> text_lines(const file_list& files, const text_line_options& options = {}) {
    return dataset_of<tensor<std::string>>(
        detail::record_source(files, {detail::record_kind::text_line, options.skip_header_lines}));
}
/// Creates a dataset of the contents of files, as bytes.
inline dataset_of<tensor<std::string>> whole_files(const file_list& files) {
    return dataset_of<tensor<std::string>>(detail::record_source(files, {detail::record_kind::whole_file}));
}
/// Creates a dataset of the records of TFRecord files, as bytes.
inline dataset_of<tensor<std::string>> tfrecord(const file_list& files) {
    return dataset_of<tensor<std::string>>(detail::record_source(files, {detail::record_kind::tf_record}));
}
/// Creates a dataset of records of a fixed number of bytes.
inline dataset_of<tensor<std::string>> fixed_length_records(const file_list& files, std::int64_t record_bytes,
                                                            const fixed_length_options& options = {}) {
    return dataset_of<tensor<std::string>>(detail::record_source(
        files, {detail::record_kind::fixed_length, 0, record_bytes, options.header_bytes, options.footer_bytes}));
}
/// Creates a dataset of the slices of IDX files, one component each: dataset::idx<tensor<std::uint8_t, 28, 28>, std::uint8_t>(images,
/// labels). The files are read by this call.
template <class... T, class... Path> auto idx(const Path&... path) {
    static_assert(sizeof...(T) == sizeof...(Path), "dataset::idx: one component for each file");
    return dataset_of<detail::component<T>...>(
        detail::typed_source(detail::slices_source({detail::read_array_file(path, false)...}),
                             detail::component_types(detail::components<detail::component<T>...>())));
}
/// Creates a dataset of the slices of .npy files, one component each. The files are read by this call.
template <class... T, class... Path> auto npy(const Path&... path) {
    static_assert(sizeof...(T) == sizeof...(Path), "dataset::npy: one component for each file");
    return dataset_of<detail::component<T>...>(
        detail::typed_source(detail::slices_source({detail::read_array_file(path, true)...}),
                             detail::component_types(detail::components<detail::component<T>...>())));
}

/// Creates a dataset that combines the elements of several datasets. It ends with the shortest one.
template <class... D> auto zip(const D&... data) {
    if ((!data.inputs().empty() || ...))
        throw invalid_argument("dataset::zip: a dataset is made of tensors of a graph");
    return detail::dataset_with(detail::all_components(typename D::components()...),
                                detail::zip_source({data.source()...}));
}

} // namespace dataset

}} // namespace rill::RILL_ABI
