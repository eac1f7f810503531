// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <rill/resources/element_source.hpp>

// The transformations of datasets with run-time types: data/dataset.hpp adds static ones.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A function of an element and its number. Random ops of the function draw by the number.
using element_function = std::function<element_arrays(element_arrays&&, std::uint64_t number)>;
using names_function = std::function<std::vector<std::string>()>;
using iterator_maker = std::function<std::unique_ptr<element_iterator>(const iterate_request&)>;

/// Returns a source whose iterators a function makes. `seeds` are those that the program drew for it and for its inputs.
element_source_ptr make_source(std::vector<tensor_type> components, std::string described, bool may_wait,
                               iterator_maker make, names_function names = {}, std::vector<std::uint64_t> seeds = {});

/// Returns a seed for a transformation without one: random bits, or the next of the open seed_sequence.
std::uint64_t drawn_seed();

/// The seeds that a function of `interleave` draws. A resumed pipeline calls it again, and draws the same seeds.
struct seed_sequence {
    std::uint64_t base = 0, drawn = 0;
};

/// Returns a source of one element, or of the slices along the first axes. Throws invalid_argument if the first extents differ.
element_source_ptr tensor_source(element_arrays values);
element_source_ptr slices_source(element_arrays values);
/// Returns a source of tensors that the initializer computes. `types` are the types of the tensors.
element_source_ptr input_source(const std::vector<tensor_type>& types, bool slices);
element_source_ptr range_source(std::int64_t start, std::int64_t stop, std::int64_t step);
/// Returns a source of generated elements. `begin` returns a function for each epoch, which is called until it returns false.
element_source_ptr generator_source(std::vector<tensor_type> components,
                                    std::function<std::function<bool(element_arrays&)>()> begin);

/// Maps elements, up to `parallel` at a time, in order. With 1 the function runs in the pulling thread.
element_source_ptr map_source(element_source_ptr from, std::vector<tensor_type> components, element_function f,
                              int parallel);
element_source_ptr filter_source(element_source_ptr from, std::function<bool(const element_arrays&)> keep);
/// Drops elements whose pull ends with the error of a bad input, and counts them.
element_source_ptr ignore_errors_source(element_source_ptr from, std::shared_ptr<std::atomic<std::int64_t>> count);
/// Shuffles. Without a seed one is drawn, which a saved state contains.
element_source_ptr shuffle_source(element_source_ptr from, index_t buffer, std::optional<std::uint64_t> seed);
/// Limits the bytes of the elements that the stages of one iteration hold.
element_source_ptr memory_limit_source(element_source_ptr from, std::size_t bytes);
element_source_ptr repeat_source(element_source_ptr from, std::int64_t count); // -1: endless
element_source_ptr take_source(element_source_ptr from, std::int64_t count);   // -1: all
element_source_ptr skip_source(element_source_ptr from, std::int64_t count);
element_source_ptr shard_source(element_source_ptr from, std::int64_t shards, std::int64_t index);
/// Stacks n elements; `pad` fills them with zeros to the longest of the batch.
element_source_ptr batch_source(element_source_ptr from, index_t n, bool drop_remainder, bool pad);
/// Batches elements of one bucket, padded. Bucket i holds lengths below boundaries[i]; the last one all others.
element_source_ptr bucket_source(element_source_ptr from, std::function<std::int64_t(const element_arrays&)> length,
                                 std::vector<std::int64_t> boundaries, std::vector<index_t> batch_sizes);
element_source_ptr cache_source(element_source_ptr from);
/// Pulls elements ahead. `to_device`: also copies them to the memory in which the steps want them (pull_context::space).
element_source_ptr prefetch_source(element_source_ptr from, index_t buffer, bool to_device = false);
element_source_ptr zip_source(std::vector<element_source_ptr> all);
element_source_ptr concatenate_source(element_source_ptr first, element_source_ptr second);
/// Reads `cycle` sources that f makes of elements in turn, `block` elements each.
element_source_ptr interleave_source(element_source_ptr from, std::vector<tensor_type> components,
                                     std::function<element_source_ptr(element_arrays&&)> f, index_t cycle,
                                     index_t block);
/// Sets the types of the components. Throws invalid_argument if they contradict the source's.
element_source_ptr typed_source(element_source_ptr from, std::vector<tensor_type> components);

/// Returns a source for a later epoch of a repetition, with another shuffle order. 0: the first epoch.
element_source_ptr epoch_source(element_source_ptr from, std::uint64_t epoch);

/// Returns elements stacked along a new first axis; `pad` fills them with zeros to the longest. Throws resource_exhausted if the batch does
/// not fit into `memory`.
element_arrays stack_elements(std::span<const element_arrays> elements, bool pad, held_bytes& memory);
/// Returns slice k along the first axis.
any_array array_slice(const any_array& a, index_t k);

/// A loop over a source in this thread.
class element_loop {
public:
    explicit element_loop(element_source_ptr source);
    bool next(element_arrays& to);

private:
    element_source_ptr source_;
    std::unique_ptr<element_iterator> iterator_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/data/pipeline.ipp>

#include <rill/data/pipeline_groups.ipp>
#include <rill/data/pipeline_joins.ipp>
#include <rill/data/pipeline_map.ipp>
#include <rill/data/pipeline_prefetch.ipp>
#include <rill/data/pipeline_sources.ipp>
#include <rill/data/pipeline_tasks.ipp>
#endif
