// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/environment.hpp>
#include <rill/core/named_array.hpp>
#include <rill/core/shared.hpp>
#include <rill/device/kernel.hpp>
#include <rill/resources/pipeline_memory.hpp>
#include <rill/resources/pull_lock.hpp>

// The interface between a dataset and the resource that iterates over it. It is independent of files and transformations.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Throws invalid_argument unless an element has this many components. Elements of damaged checkpoints may have others.
void require_component_count(const element_arrays& element, std::size_t expected);

/// The state of an iterator: numbers, texts and arrays, which are read in the order of writing.
class iterator_archive {
public:
    iterator_archive() = default;
    /// Makes an archive from the result of parts(). Throws invalid_argument for other parts.
    explicit iterator_archive(std::span<const named_array> parts);

    void put(std::int64_t number) { numbers_.push_back(number); }
    void put(const std::string& text) { texts_.push_back(text); }
    void put(const element_arrays& element);
    /// Returns the parts of a saved resource: "numbers", "texts", and the arrays "0", "1", ….
    std::vector<named_array> parts() const;

    // Each reader throws invalid_argument at the end of the archive.
    std::int64_t number();
    /// Reads a count from 0 to `most`.
    std::size_t count(std::int64_t most = std::int64_t(1) << 40);
    std::string text();
    element_arrays element();

private:
    std::vector<std::int64_t> numbers_;
    std::vector<std::string> texts_;
    std::vector<any_array> arrays_;
    std::size_t number_at_ = 0, text_at_ = 0, array_at_ = 0;
};

/// The error of a pull whose element nobody wants any more. Only the code that has set `pull_context::abandoned` handles it.
struct RILL_EXPORT pull_abandoned : cancelled {
    pull_abandoned() : cancelled("nobody waits for the element any more") {}
};

/// The context in which elements are pulled: a step, a loop of the program, or a task in the background.
struct pull_context {
    rill::environment& environment;
    const step_context* step = nullptr;           // the step that waits, if it is on this thread
    const std::atomic<bool>* abandoned = nullptr; // set once the element is no longer wanted
    const held_locks* locks = nullptr;            // null: no other thread saves the state meanwhile
    const memory_space* space = nullptr;          // where the element is wanted; null: host memory

    void throw_if_over() const;
    /// Returns true if `throw_if_over` would throw.
    bool is_over() const;
    /// Calls a function that may block, without the locks, so that other threads may save the state meanwhile.
    template <class F> auto without_locks(const F& f) const {
        const struct released {
            const held_locks* locks;
            explicit released(const held_locks* all) : locks(all) {
                if (locks) locks->release();
            }
            released(const released&) = delete;
            ~released() {
                if (locks) locks->acquire();
            }
        } here(locks);
        return f();
    }
    /// Throws `cancelled` or `deadline_exceeded` if the element is no longer wanted. Loops that may not end call it between elements. It
    /// also lets other threads save the state.
    void check() const {
        throw_if_over();
        if (locks && locks->are_awaited()) without_locks([] {});
    }
};

/// An iteration over a dataset. Only one thread at a time may use it. After an error, the next call continues after the failed element.
class element_iterator {
public:
    virtual ~element_iterator() = default;
    /// Produces the next element. Returns false at the end and ever after.
    virtual bool next(element_arrays& to, const pull_context& context) = 0;
    /// Returns true if `next` would not wait for another thread or external events.
    virtual bool is_ready() { return true; }
    /// Writes the state. The caller holds the lock of the iteration, but `next` may be inside a call that releases it.
    virtual void save(iterator_archive& to) = 0;
    /// Restores the state that `save` has written. It is called before the first `next`.
    virtual void restore(iterator_archive& from, const pull_context& context) = 0;
};

/// Pairs of seeds, in the order of the pipeline: the drawn one, and the one of the saved run that replaces it.
struct seed_table {
    std::vector<std::uint64_t> drawn, saved;
};

/// The request to begin an iteration.
struct iterate_request {
    std::uint64_t epoch = 0;                           // differs between the rounds of a repetition
    std::span<const any_array> inputs = {};            // the values of the tensors that the dataset is made of
    std::uint64_t iteration = 0;                       // differs between the iterations of an iterator
    std::shared_ptr<const seed_table> seeds = {};      // seeds of a restored iteration
    std::shared_ptr<pipeline_memory> memory = nullptr; // null: no limit

    /// Returns the seed to use in place of one drawn by the pipeline.
    std::uint64_t seed_of(std::uint64_t drawn) const;
};

/// A dataset: an immutable description of a pipeline, which any number of iterators may read.
class element_source {
public:
    virtual ~element_source() = default;
    /// Returns the types of an element's components; extents that differ between elements are dyn.
    virtual const std::vector<tensor_type>& components() const = 0;
    /// Returns the pipeline as text. A saved state fits a pipeline with the same text.
    virtual std::string described() const = 0;
    /// Returns the names of the components; empty if unnamed.
    virtual std::vector<std::string> names() const { return {}; }
    /// Returns true if an iterator may wait for another thread or external events.
    virtual bool may_wait() const { return false; }
    /// Returns the seeds that the program drew for this pipeline, in its order. A saved state contains them.
    virtual std::vector<std::uint64_t> seeds() const { return {}; }
    virtual std::unique_ptr<element_iterator> iterate(const iterate_request& request) const = 0;
};
using element_source_ptr = std::shared_ptr<const element_source>;

/// The result of a pull: an element, the end, or an error.
struct pulled_element {
    bool is_end = false;
    std::exception_ptr problem = {};
    element_arrays arrays = {};

    /// Moves the element to `to`. Returns false at the end; throws the error.
    bool give(element_arrays& to) {
        if (problem) std::rethrow_exception(problem);
        if (!is_end) to = std::move(arrays);
        return !is_end;
    }
};

/// Pulls an element. Throws only if the context is over; other errors are part of the result.
pulled_element pull(element_iterator& from, const pull_context& context);

/// Copies the arrays of an element that lie elsewhere to a memory; null is the host's. Text stays in host memory.
void bring_to(const memory_space* space, element_arrays& element);

void save_pulled(iterator_archive& to, const pulled_element& p);
pulled_element restore_pulled(iterator_archive& from);

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
#include <algorithm>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE void require_component_count(const element_arrays& element, std::size_t expected) {
    if (element.size() != expected)
        throw invalid_argument("dataset: an element has " + std::to_string(expected) + " components, this one " +
                               std::to_string(element.size()));
}

RILL_COLD iterator_archive::iterator_archive(std::span<const named_array> parts) {
    std::vector<const any_array*> arrays;
    for (const auto& p : parts) {
        if (p.name == "numbers") {
            const auto all = p.value.elements<std::int64_t>();
            numbers_.assign(all.begin(), all.end());
        } else if (p.name == "texts") {
            const auto all = p.value.elements<std::string>();
            texts_.assign(all.begin(), all.end());
        } else {
            const auto at = static_cast<std::size_t>(std::strtoull(p.name.c_str(), nullptr, 10));
            if (at >= parts.size())
                throw invalid_argument("the saved state of an iterator has a part '" + p.name + "'");
            if (at >= arrays.size()) arrays.resize(at + 1);
            arrays[at] = &p.value;
        }
    }
    for (const auto* a : arrays) {
        if (!a) throw invalid_argument("the saved state of an iterator lacks an array");
        arrays_.push_back(*a);
    }
}

RILL_COLD void iterator_archive::put(const element_arrays& element) {
    put(static_cast<std::int64_t>(element.size()));
    for (const auto& a : element) arrays_.push_back(owned_copy(a));
}

RILL_COLD std::vector<named_array> iterator_archive::parts() const {
    std::vector<named_array> all;
    any_array numbers(dtype::int64, dims{static_cast<index_t>(numbers_.size())});
    std::copy(numbers_.begin(), numbers_.end(), static_cast<std::int64_t*>(numbers.mutable_data()));
    all.push_back({"numbers", std::move(numbers)});
    any_array texts(dtype::string, dims{static_cast<index_t>(texts_.size())});
    std::copy(texts_.begin(), texts_.end(), static_cast<std::string*>(texts.mutable_data()));
    all.push_back({"texts", std::move(texts)});
    for (std::size_t i = 0; i < arrays_.size(); ++i) all.push_back({std::to_string(i), arrays_[i]});
    return all;
}

RILL_COLD std::int64_t iterator_archive::number() {
    if (number_at_ >= numbers_.size()) throw invalid_argument("the saved state of an iterator ends early");
    return numbers_[number_at_++];
}

RILL_COLD std::size_t iterator_archive::count(std::int64_t most) {
    const auto n = number();
    if (n < 0 || n > most) throw invalid_argument("the saved state of an iterator has a count of " + std::to_string(n));
    return static_cast<std::size_t>(n);
}

RILL_COLD std::string iterator_archive::text() {
    if (text_at_ >= texts_.size()) throw invalid_argument("the saved state of an iterator ends early");
    return texts_[text_at_++];
}

RILL_COLD element_arrays iterator_archive::element() {
    const auto n = count();
    if (n > arrays_.size() - array_at_) throw invalid_argument("the saved state of an iterator ends early");
    const auto from = arrays_.begin() + static_cast<std::ptrdiff_t>(array_at_);
    array_at_ += n;
    return {from, from + static_cast<std::ptrdiff_t>(n)};
}

RILL_COLD std::uint64_t iterate_request::seed_of(std::uint64_t drawn) const {
    if (!seeds) return drawn;
    const auto at = std::find(seeds->drawn.begin(), seeds->drawn.end(), drawn);
    return at == seeds->drawn.end() ? drawn : seeds->saved[static_cast<std::size_t>(at - seeds->drawn.begin())];
}

RILL_INLINE void pull_context::throw_if_over() const {
    if (step) step->check();
    if (abandoned && *abandoned) throw pull_abandoned();
}

RILL_INLINE bool pull_context::is_over() const {
    try {
        throw_if_over();
    } catch (...) {
        return true;
    }
    return false;
}

RILL_INLINE pulled_element pull(element_iterator& from, const pull_context& context) {
    pulled_element got;
    try {
        got.is_end = !from.next(got.arrays, context);
    } catch (const pull_abandoned&) { // also if another step has begun to wait meanwhile: it pulls the element anew
        throw;
    } catch (...) {
        if (context.is_over()) throw;
        got.problem = std::current_exception();
    }
    return got;
}

RILL_INLINE void bring_to(const memory_space* space, element_arrays& element) {
    for (auto& a : element)
        if (a.space() != space && a.dtype() != dtype::string) a = copied_to(a, space);
}

RILL_COLD void save_pulled(iterator_archive& to, const pulled_element& p) {
    to.put(static_cast<std::int64_t>(p.problem ? 2 : p.is_end ? 1 : 0));
    if (!p.problem) return to.put(p.arrays);
    try {
        std::rethrow_exception(p.problem);
    } catch (const error& e) {
        to.put(static_cast<std::int64_t>(e.code()));
        to.put(std::string(e.what()));
    } catch (const std::exception& e) {
        to.put(static_cast<std::int64_t>(error_code::unknown));
        to.put(std::string(e.what()));
    }
}

RILL_COLD pulled_element restore_pulled(iterator_archive& from) {
    pulled_element p;
    const auto what = from.number();
    p.is_end = what == 1;
    if (what != 2) {
        p.arrays = from.element();
        return p;
    }
    const auto code = static_cast<error_code>(from.count(16));
    try {
        throw_error(code, from.text());
    } catch (const error&) {
        p.problem = std::current_exception();
    }
    return p;
}

}}} // namespace rill::RILL_ABI::detail
#endif
