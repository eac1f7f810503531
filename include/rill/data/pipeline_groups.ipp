// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/data/pipeline.hpp>

#include <algorithm>
#include <mutex>
#include <utility>

#include <rill/core/hash.hpp>
#include <rill/core/shape_rules.hpp>
#include <rill/data/pipeline.ipp>

// Transformations that hold several elements.

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE element_arrays stack_elements(std::span<const element_arrays> elements, bool pad, held_bytes& memory) {
    element_arrays all;
    for (const auto& e : elements) require_component_count(e, elements[0].size());
    for (std::size_t c = 0; c < elements[0].size(); ++c) {
        const auto& first = elements[0][c];
        dims each = first.shape();
        for (const auto& e : elements) {
            const dims& one = e[c].shape();
            if (e[c].dtype() != first.dtype())
                throw invalid_argument("dataset: elements of " + to_string(first.type()) + " and " +
                                       to_string(e[c].type()) + " can't be batched");
            if (one == each) continue;
            if (!pad || one.rank != each.rank)
                throw invalid_argument("dataset: elements of the shapes " + to_string(each) + " and " + to_string(one) +
                                       " can't be batched" + (pad ? "" : "; padded_batch fills them up"));
            for (int i = 0; i < each.rank; ++i) each[i] = std::max(each[i], one[i]);
        }
        dims shape{static_cast<index_t>(elements.size())};
        for (int i = 0; i < each.rank; ++i) shape.push(each[i]);
        if (!tensor_type{first.dtype(), shape}.countable())
            throw resource_exhausted("dataset: a batch of the shape " + to_string(shape) + " has too many elements");
        const auto bytes = static_cast<std::size_t>(each.size()) * size_of(first.dtype());
        memory.require(bytes * elements.size());
        any_array made(first.dtype(), shape);
        auto* to = static_cast<std::byte*>(made.mutable_data());
        for (const auto& e : elements) {
            const auto& one = e[c];
            if (one.shape() == each) {
                copy_elements(one.dtype(), one.data(), to, one.size());
            } else {
                if (one.dtype() != dtype::string) std::fill_n(to, bytes, std::byte(0));
                copy_into_corner(one, each, to);
            }
            to += bytes;
        }
        all.push_back(std::move(made));
    }
    return all;
}

inline void save_elements(iterator_archive& to, const std::vector<element_arrays>& all) {
    to.put(static_cast<std::int64_t>(all.size()));
    for (const auto& e : all) to.put(e);
}

inline std::vector<element_arrays> restore_elements(iterator_archive& from) {
    std::vector<element_arrays> all;
    for (auto n = from.count(); n > 0; --n) all.push_back(from.element());
    return all;
}

/// Returns the types of batches; extents that depend on padding are dyn.
inline std::vector<tensor_type> batch_types(const std::vector<tensor_type>& each, index_t n) {
    std::vector<tensor_type> all;
    for (const auto& t : each) {
        tensor_type batch{t.type, t.shape.known_rank() ? dims{n} : t.shape};
        for (int i = 0; i < t.shape.rank; ++i) batch.shape.push(t.shape[i]);
        all.push_back(batch);
    }
    return all;
}

/// Stacks the elements and clears them, also if stacking fails.
inline element_arrays take_stacked(std::vector<element_arrays>& elements, bool pad, held_bytes& memory) {
    const auto batch = std::exchange(elements, {});
    struct given_back {
        const std::vector<element_arrays>& all;
        held_bytes& memory;
        ~given_back() {
            for (const auto& e : all) memory.remove(e);
        }
    } const after{batch, memory};
    return stack_elements(batch, pad, memory);
}

class batch_iterator final : public iterator_over {
public:
    batch_iterator(const element_source& from, index_t n, bool drop_remainder, bool pad, const iterate_request& r,
                   const std::string& stage)
        : iterator_over(from.iterate(r)), n_(static_cast<std::size_t>(n)), drop_remainder_(drop_remainder), pad_(pad),
          memory_(r.memory, stage) {}
    bool is_ready() override { return n_ == 1 && from_->is_ready(); }
    bool next(element_arrays& to, const pull_context& context) override {
        while (elements_.size() < n_) { // after an error the earlier elements are still here
            element_arrays one;
            context.check();
            if (!from_->next(one, context)) break;
            memory_.add(one);
            elements_.push_back(std::move(one));
        }
        if (elements_.empty() || (drop_remainder_ && elements_.size() < n_)) return false;
        to = take_stacked(elements_, pad_, memory_);
        return true;
    }
    void save(iterator_archive& to) override {
        save_elements(to, elements_);
        from_->save(to);
    }
    void restore(iterator_archive& from, const pull_context& context) override {
        elements_ = restore_elements(from);
        memory_.add(elements_);
        from_->restore(from, context);
    }

private:
    const std::size_t n_;
    const bool drop_remainder_, pad_;
    held_bytes memory_;
    std::vector<element_arrays> elements_;
};

RILL_COLD element_source_ptr batch_source(element_source_ptr from, index_t n, bool drop_remainder, bool pad) {
    check_at_least("the size of a batch", n, 1);
    const auto stage =
        (pad ? "padded_batch(" : "batch(") + std::to_string(n) + (drop_remainder ? ", drop_remainder)" : ")");
    return source_over(from, batch_types(from->components(), drop_remainder ? n : dyn), stage,
                       [=](const iterate_request& r) {
                           return std::make_unique<batch_iterator>(*from, n, drop_remainder, pad, r, stage);
                       });
}

struct bucket_rule {
    std::function<std::int64_t(const element_arrays&)> length;
    std::vector<std::int64_t> boundaries;
    std::vector<index_t> batch_sizes;
};

class bucket_iterator final : public iterator_over {
public:
    bucket_iterator(const element_source& from, std::shared_ptr<const bucket_rule> rule, const iterate_request& r)
        : iterator_over(from.iterate(r)), rule_(std::move(rule)), memory_(r.memory, "bucket_by_length"),
          buckets_(rule_->batch_sizes.size()) {}
    bool is_ready() override { return false; } // a whole bucket may have to be filled
    bool next(element_arrays& to, const pull_context& context) override {
        for (element_arrays one; from_->next(one, context); context.check()) {
            const auto length = rule_->length(one);
            const auto at =
                static_cast<std::size_t>(std::upper_bound(rule_->boundaries.begin(), rule_->boundaries.end(), length) -
                                         rule_->boundaries.begin());
            auto& bucket = buckets_[at];
            memory_.add(one);
            bucket.push_back(std::move(one));
            if (static_cast<index_t>(bucket.size()) == rule_->batch_sizes[at])
                return to = take_stacked(bucket, true, memory_), true;
        }
        for (auto& bucket : buckets_)
            if (!bucket.empty()) return to = take_stacked(bucket, true, memory_), true;
        return false;
    }
    void save(iterator_archive& to) override {
        for (const auto& b : buckets_) save_elements(to, b);
        from_->save(to);
    }
    void restore(iterator_archive& from, const pull_context& context) override {
        for (auto& b : buckets_) {
            b = restore_elements(from);
            memory_.add(b);
        }
        from_->restore(from, context);
    }

private:
    const std::shared_ptr<const bucket_rule> rule_;
    held_bytes memory_;
    std::vector<std::vector<element_arrays>> buckets_;
};

RILL_COLD element_source_ptr bucket_source(element_source_ptr from,
                                           std::function<std::int64_t(const element_arrays&)> length,
                                           std::vector<std::int64_t> boundaries, std::vector<index_t> batch_sizes) {
    if (!std::is_sorted(boundaries.begin(), boundaries.end()) || batch_sizes.size() != boundaries.size() + 1)
        throw invalid_argument(
            "dataset: bucket_by_length takes ascending boundaries, and one batch size more than boundaries");
    std::string text = "bucket_by_length(";
    for (const auto b : boundaries) text += std::to_string(b) + ", ";
    for (const auto n : batch_sizes) {
        check_at_least("the size of a batch", n, 1);
        text += std::to_string(n) + " ";
    }
    auto rule = std::make_shared<const bucket_rule>(
        bucket_rule{std::move(length), std::move(boundaries), std::move(batch_sizes)});
    return source_over(from, batch_types(from->components(), dyn), text + ")", [from, rule](const iterate_request& r) {
        return std::make_unique<bucket_iterator>(*from, rule, r);
    });
}

class shuffle_iterator final : public iterator_over {
public:
    shuffle_iterator(const element_source& from, std::size_t size, std::uint64_t seed, const iterate_request& r)
        : iterator_over(from.iterate(r)), size_(size), seed_(seed),
          memory_(r.memory, "shuffle(" + std::to_string(size) + ")") {}
    bool is_ready() override { return false; } // a whole buffer may have to be filled
    bool next(element_arrays& to, const pull_context& context) override {
        while (!is_over_ && buffer_.size() < size_) {
            element_arrays one;
            context.check();
            is_over_ = !from_->next(one, context);
            if (is_over_) break;
            memory_.add(one);
            buffer_.push_back(std::move(one));
        }
        if (buffer_.empty()) return false;
        const auto at = static_cast<std::size_t>(hash_combine(seed_, drawn_++) % buffer_.size());
        memory_.remove(buffer_[at]);
        to = std::move(buffer_[at]);
        buffer_[at] = std::move(buffer_.back());
        buffer_.pop_back();
        return true;
    }
    void save(iterator_archive& to) override {
        to.put(static_cast<std::int64_t>(seed_));
        to.put(static_cast<std::int64_t>(drawn_));
        to.put(static_cast<std::int64_t>(is_over_));
        save_elements(to, buffer_);
        from_->save(to);
    }
    void restore(iterator_archive& from, const pull_context& context) override {
        seed_ = static_cast<std::uint64_t>(from.number());
        drawn_ = static_cast<std::uint64_t>(from.number());
        is_over_ = from.number() != 0;
        buffer_ = restore_elements(from);
        memory_.add(buffer_);
        from_->restore(from, context);
    }

private:
    const std::size_t size_;
    std::uint64_t seed_, drawn_ = 0;
    bool is_over_ = false;
    held_bytes memory_;
    std::vector<element_arrays> buffer_;
};

RILL_COLD element_source_ptr shuffle_source(element_source_ptr from, index_t buffer,
                                            std::optional<std::uint64_t> seed) {
    check_at_least("the buffer of shuffle", buffer, 1);
    auto seeds = from->seeds();
    const auto used = seed ? *seed : drawn_seed();
    if (!seed) seeds.push_back(used);
    return make_source(
        from->components(), from->described() + ".shuffle(" + std::to_string(buffer) + ")", from->may_wait(),
        [from, buffer, used, is_drawn = !seed](const iterate_request& r) {
            const auto of_run = is_drawn ? r.seed_of(used) : used;
            return std::make_unique<shuffle_iterator>(*from, static_cast<std::size_t>(buffer),
                                                      hash_combine(of_run, r.epoch), r);
        },
        names_of(from), std::move(seeds));
}

/// The elements that the iterators of a cache share.
struct cached_elements {
    std::mutex mutex;
    std::vector<element_arrays> all;
    bool is_complete = false;
};

class cache_iterator final : public counted_iterator {
public:
    cache_iterator(element_source_ptr from, const iterate_request& request, std::shared_ptr<cached_elements> cached)
        : source_(std::move(from)), request_(request), memory_(request.memory, "cache"), cached_(std::move(cached)) {
        const std::lock_guard lock(cached_->mutex);
        memory_.add(cached_->all);
        counted_ = cached_->all.size();
    }
    bool is_ready() override {
        const std::lock_guard lock(cached_->mutex);
        return cached_->is_complete || static_cast<std::size_t>(at_) < cached_->all.size();
    }
    bool next(element_arrays& to, const pull_context& context) override {
        {
            const std::lock_guard lock(cached_->mutex);
            if (static_cast<std::size_t>(at_) < cached_->all.size()) {
                to = cached_->all[static_cast<std::size_t>(at_++)];
                return true;
            }
            if (cached_->is_complete) return false;
        }
        if (!from_) { // all iterations share the same pass
            auto pass = request_.of_epoch(0);
            pass.iteration = 0;
            from_ = source_->iterate(pass);
        }
        for (;; context.check()) {
            const bool more = from_->next(to, context);
            const std::lock_guard lock(cached_->mutex);
            if (!more) { // a pass that lacks elements for want of memory is incomplete
                if (cached_->all.size() >= static_cast<std::size_t>(from_at_)) cached_->is_complete = true;
                return false;
            }
            const auto number = from_at_++;
            if (static_cast<std::size_t>(number) >=
                counted_) { // the element stays, whether this iterator adds it or another one
                try {
                    memory_.add(to);
                } catch (...) { // the next call continues after it
                    at_ = std::max(at_, number + 1);
                    throw;
                }
                counted_ = static_cast<std::size_t>(number) + 1;
            }
            if (static_cast<std::size_t>(number) == cached_->all.size()) cached_->all.push_back(to);
            if (number < at_) continue;
            at_ = number + 1;
            return true;
        }
    }

private:
    const element_source_ptr source_;
    const kept_request request_;
    held_bytes memory_;
    const std::shared_ptr<cached_elements> cached_;
    std::unique_ptr<element_iterator> from_;
    std::int64_t from_at_ = 0;
    std::size_t counted_ = 0; // elements that are counted as held
};

/// The cached elements: those for the program's seeds, and those for the latest other seeds, of a restored iteration.
struct cache_contents {
    explicit cache_contents(std::vector<std::uint64_t> seeds) : drawn(std::move(seeds)) {}

    /// Returns the cached elements for an iteration. Iterations with the same seeds share them.
    std::shared_ptr<cached_elements> elements_for(const iterate_request& r) {
        if (!r.inputs.empty()) return std::make_shared<cached_elements>(); // the inputs may differ each time
        auto seeds = drawn;
        for (auto& seed : seeds) seed = r.seed_of(seed);
        if (seeds == drawn) return of_drawn;
        const std::lock_guard lock(mutex);
        if (seeds != others) {
            others = std::move(seeds);
            of_others = std::make_shared<cached_elements>();
        }
        return of_others;
    }

private:
    const std::vector<std::uint64_t> drawn;
    const std::shared_ptr<cached_elements> of_drawn = std::make_shared<cached_elements>();
    std::mutex mutex; // guards the members below
    std::vector<std::uint64_t> others;
    std::shared_ptr<cached_elements> of_others;
};

RILL_COLD element_source_ptr cache_source(element_source_ptr from) {
    auto kept = std::make_shared<cache_contents>(from->seeds());
    return source_over(from, from->components(), "cache", [from, kept](const iterate_request& r) {
        return std::make_unique<cache_iterator>(from, r, kept->elements_for(r));
    });
}

}}} // namespace rill::RILL_ABI::detail
