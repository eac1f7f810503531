// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <rill/data/dataset_iterator.hpp>
#include <rill/data/element_types.hpp>
#include <rill/data/pipeline.hpp>
#include <rill/data/traced_function.hpp>

namespace rill { inline namespace RILL_ABI {

/// The tag that drops an incomplete last batch: data.batch<32>(drop_remainder).
struct drop_remainder_t {};
inline constexpr drop_remainder_t drop_remainder{};

struct map_options {
    int parallel = 1; // concurrent calls, from several threads; the order stays
};

/// A dataset whose elements are copied to the memory of a device ahead of the steps that read them. It is the end of a pipeline.
template <class... T> class prefetched_dataset {
public:
    prefetched_dataset(dataset_of<T...> data, std::string device)
        : data_(std::move(data)), device_(std::move(device)) {}

    dataset_iterator<T...>
    make_one_shot_iterator(const iterator_options& o = {},
                           const std::source_location& where = std::source_location::current()) const {
        return data_.make_one_shot_iterator(o, where).on_device(device_);
    }
    initializable_iterator<T...>
    make_initializable_iterator(const iterator_options& o = {},
                                const std::source_location& where = std::source_location::current()) const {
        const auto it = data_.make_initializable_iterator(o, where);
        return {it.on_device(device_), it.initializer()};
    }

private:
    dataset_of<T...> data_;
    std::string device_;
};

/// A dataset: the description of an input pipeline. Components T are tensors, or element types for rank 0. Copies are cheap, and calls
/// return new datasets. Reading starts with an iterator of a graph, or with a range-based for:
///
///     auto data = dataset::csv<float, float, int>("iris.csv").shuffle(1000, 7).repeat().batch<32>().prefetch(2);
///     auto [a, b, target] = data.make_one_shot_iterator().get_next();
///     for (auto [a, b, target] : data.take(3)) …
///
/// Functions own the objects that they use, or refer to objects that outlive all readers. An exception of a function ends the pull, but the
/// iterator continues.
template <class... T> class dataset_of {
    static_assert(sizeof...(T) > 0, "a dataset's elements have one component or more");

public:
    using components = detail::components<detail::component<T>...>;

    explicit dataset_of(detail::element_source_ptr source, std::vector<any_tensor> inputs = {})
        : source_(std::move(source)), inputs_(std::move(inputs)) {}
    /// Takes a dataset of the same components, in another notation or with extents where these are dyn.
    template <class... U>
        requires(detail::components_widen<components, typename dataset_of<U...>::components> &&
                 !std::is_same_v<dataset_of<U...>, dataset_of>)
    dataset_of(const dataset_of<U...>& other) : dataset_of(other.source(), other.inputs()) {} // NOLINT: the same

    const detail::element_source_ptr& source() const noexcept { return source_; }
    /// Returns the tensors of a graph that the dataset depends on.
    const std::vector<any_tensor>& inputs() const noexcept { return inputs_; }
    /// Returns the names of the components, from the header of a CSV file; else none.
    std::vector<std::string> names() const { return source_->names(); }

    /// Maps elements. A function with typed parameters takes host values: [](float x, const xt::xtensor<float, 1>& v). A generic one,
    /// [](auto x, auto v), takes tensors, as loops and branches do. Its graph is built once, with the seed of the current one. Several
    /// results are a tuple.
    template <class F> auto map(F f, const map_options& o = {}) const {
        if constexpr (detail::takes_host_values<F, T...>) {
            using result = detail::components_from<std::invoke_result_t<F&, detail::host_component<T>...>>;
            return mapped(
                result(),
                [f = std::move(f)](detail::element_arrays&& in, std::uint64_t) mutable {
                    return detail::to_element(result(), detail::call_with(components(), f, in));
                },
                o);
        } else {
            auto [function, results] = detail::trace_function(components(), f);
            using result = typename detail::components_of_results<std::decay_t<decltype(results)>>::type;
            return mapped(
                result(),
                [traced = std::move(function)](detail::element_arrays&& in, std::uint64_t number) {
                    return (*traced)(std::move(in), number);
                },
                o);
        }
    }
    /// Keeps the elements for which a function of host values returns true.
    template <class F> dataset_of filter(F f) const {
        return with(detail::filter_source(source_, [f = std::move(f)](const detail::element_arrays& e) mutable {
            return static_cast<bool>(detail::call_with(components(), f, e));
        }));
    }
    /// Skips elements that can't be read or mapped, and files that can't be opened, and counts them. These are the errors invalid_argument,
    /// data_loss, not_found and permission_denied.
    dataset_of ignore_errors(std::shared_ptr<std::atomic<std::int64_t>> count = nullptr) const {
        return with(detail::ignore_errors_source(source_, std::move(count)));
    }
    /// Shuffles: draws the next element from a buffer of `buffer` elements. The seed gives each epoch of a repetition an order of its own.
    dataset_of shuffle(index_t buffer, std::uint64_t seed) const {
        return with(detail::shuffle_source(source_, buffer, seed));
    }
    /// Shuffles with a seed that is drawn by this call. A saved iterator keeps the seed.
    dataset_of shuffle(index_t buffer) const { return with(detail::shuffle_source(source_, buffer, std::nullopt)); }
    /// Repeats all elements `count` times, or endlessly without a count.
    dataset_of repeat(std::int64_t count = -1) const { return with(detail::repeat_source(source_, count)); }
    dataset_of take(std::int64_t count) const { return with(detail::take_source(source_, count)); }
    dataset_of skip(std::int64_t count) const { return with(detail::skip_source(source_, count)); }
    /// Keeps the elements `index`, `index + shards`, …: the share of one of `shards` workers.
    dataset_of shard(std::int64_t shards, std::int64_t index) const {
        return with(detail::shard_source(source_, shards, index));
    }
    /// Caches the elements of the first pass in memory, for later ones.
    dataset_of cache() const { return with(detail::cache_source(source_)); }
    /// Limits the bytes of the elements that the earlier stages hold in one iteration. Such stages are shuffle, batch, bucket_by_length,
    /// cache, prefetch and a parallel map. A pull beyond the limit throws resource_exhausted, which names the stage.
    dataset_of memory_limit(std::size_t bytes) const { return with(detail::memory_limit_source(source_, bytes)); }
    /// Reads up to `buffer` elements ahead, in the background.
    dataset_of prefetch(index_t buffer) const { return with(detail::prefetch_source(source_, buffer)); }
    /// Reads up to `buffer` elements ahead and copies them to the memory of a device, "/gpu:0", in the background. A step then finds its
    /// element there. The last transformation of a pipeline.
    prefetched_dataset<T...> prefetch_to_device(std::string device, index_t buffer = 1) const {
        return {with(detail::prefetch_source(source_, buffer, true)), std::move(device)};
    }
    /// Appends the elements of another dataset.
    dataset_of concatenate(const dataset_of& other) const {
        refuse_inputs(other, "concatenate");
        return with(detail::concatenate_source(source_, other.source_));
    }

    /// Stacks N elements of one shape. The last batch has the rest.
    template <index_t N> auto batch() const { return batched<dyn>(N, false, false); }
    /// Stacks N elements and drops an incomplete last batch.
    template <index_t N> auto batch(drop_remainder_t) const { return batched<N>(N, true, false); }
    auto batch(index_t n) const { return batched<dyn>(n, false, false); }
    /// Stacks N elements, padded with zeros to the longest of the batch.
    template <index_t N> auto padded_batch() const { return batched<dyn>(N, false, true); }
    template <index_t N> auto padded_batch(drop_remainder_t) const { return batched<N>(N, true, true); }
    auto padded_batch(index_t n) const { return batched<dyn>(n, false, true); }
    /// Makes padded batches of elements of similar length. f returns the length from host values. Bucket i holds lengths in [boundaries[i -
    /// 1], boundaries[i]); its batches have batch_sizes[i] elements.
    template <class F>
    auto bucket_by_length(F f, std::vector<std::int64_t> boundaries, std::vector<index_t> batch_sizes) const {
        return batched_of<dyn>(detail::bucket_source(
            source_,
            [f = std::move(f)](const detail::element_arrays& e) mutable {
                return static_cast<std::int64_t>(detail::call_with(components(), f, e));
            },
            std::move(boundaries), std::move(batch_sizes)));
    }

    /// Maps each element to a dataset, by a function of host values. Reads `cycle` datasets in turn, `block` elements each.
    template <class F> auto interleave(F f, index_t cycle, index_t block = 1) const {
        using result = std::invoke_result_t<F&, detail::host_component<T>...>;
        auto make = [f = std::move(f)](detail::element_arrays&& in) mutable {
            const result made = detail::call_with(components(), f, in);
            if (!made.inputs().empty()) throw invalid_argument("interleave: a dataset is made of tensors of a graph");
            return made.source();
        };
        return result(detail::interleave_source(source_, detail::component_types(typename result::components()),
                                                std::move(make), cycle, block),
                      inputs_);
    }
    /// Maps each element to a dataset, and reads them in sequence.
    template <class F> auto flat_map(F f) const { return interleave(std::move(f), 1, 1); }

    /// Sets the extents: data.as<tensor<float, 4>, tensor<int>>(). An element of another shape throws invalid_argument.
    template <class... U> dataset_of<detail::component<U>...> as() const {
        return dataset_of<detail::component<U>...>(
            detail::typed_source(source_, detail::component_types(detail::components<detail::component<U>...>())),
            inputs_);
    }

    /// Makes an iterator that reads the dataset once, in each session of the graph.
    dataset_iterator<T...>
    make_one_shot_iterator(const iterator_options& o = {},
                           const std::source_location& where = std::source_location::current()) const {
        if (!inputs_.empty())
            throw invalid_argument(
                "make_one_shot_iterator: the dataset is made of tensors; take make_initializable_iterator" +
                detail::at_place(where));
        return detail::add_iterator<T...>(source_->components(), detail::numbered_source(source_), o, where);
    }
    /// Makes an iterator that starts when its initializer() runs.
    initializable_iterator<T...>
    make_initializable_iterator(const iterator_options& o = {},
                                const std::source_location& where = std::source_location::current()) const {
        const auto it = detail::add_iterator<T...>(source_->components(), {}, o, where);
        return {it, it.make_initializer(*this, where)};
    }

    /// A loop over the elements: host values, or tuples of several.
    class host_iterator {
    public:
        using value_type = decltype(detail::to_value(components(), detail::element_arrays()));
        using difference_type = std::ptrdiff_t;

        explicit host_iterator(const detail::element_source_ptr& source)
            : loop_(std::make_shared<detail::element_loop>(source)) {
            ++*this;
        }
        value_type operator*() const { return detail::to_value(components(), element_); }
        host_iterator& operator++() {
            if (!loop_->next(element_)) loop_ = nullptr;
            return *this;
        }
        void operator++(int) { ++*this; }
        bool operator==(std::default_sentinel_t) const { return !loop_; }

    private:
        std::shared_ptr<detail::element_loop> loop_;
        detail::element_arrays element_;
    };
    host_iterator begin() const {
        if (!inputs_.empty())
            throw failed_precondition("dataset: it is made of tensors of a graph; only a session reads it");
        return host_iterator(source_);
    }
    std::default_sentinel_t end() const { return {}; }

private:
    dataset_of with(detail::element_source_ptr source) const { return dataset_of(std::move(source), inputs_); }
    static void refuse_inputs(const dataset_of& other, const char* who) {
        if (!other.inputs_.empty())
            throw invalid_argument("dataset: " + std::string(who) +
                                   " takes no dataset that is made of tensors of a graph");
    }
    template <class... C, class F> auto mapped(detail::components<C...> result, F f, const map_options& o) const {
        return dataset_of<C...>(detail::map_source(source_, detail::component_types(result), std::move(f), o.parallel),
                                inputs_);
    }
    template <index_t N> auto batched_of(detail::element_source_ptr source) const {
        return dataset_of<typename detail::batched_component<detail::component<T>, N>::type...>(std::move(source),
                                                                                                inputs_);
    }
    template <index_t N> auto batched(index_t n, bool drop, bool pad) const {
        static_assert(N == dyn || N > 0, "batch: a batch has one element or more");
        return batched_of<N>(detail::batch_source(source_, n, drop, pad));
    }

    detail::element_source_ptr source_;
    std::vector<any_tensor> inputs_;
};

}} // namespace rill::RILL_ABI
