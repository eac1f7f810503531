// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/data/pipeline.hpp>

#include <limits>
#include <utility>

#include <rill/core/hash.hpp>
#include <rill/core/platform.hpp>
#include <rill/graph/scope.hpp>
#include <rill/resources/element_slots.hpp>

// Transformations of one element at a time.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A source with iterators that a function makes.
class made_source final : public element_source {
public:
    made_source(std::vector<tensor_type> components, std::string described, bool may_wait, iterator_maker make,
                names_function names, std::vector<std::uint64_t> seeds)
        : components_(std::move(components)), described_(std::move(described)), may_wait_(may_wait),
          make_(std::move(make)), names_(std::move(names)), seeds_(std::move(seeds)) {}

    const std::vector<tensor_type>& components() const override { return components_; }
    std::string described() const override { return described_; }
    std::vector<std::string> names() const override { return names_ ? names_() : std::vector<std::string>(); }
    bool may_wait() const override { return may_wait_; }
    std::vector<std::uint64_t> seeds() const override { return seeds_; }
    std::unique_ptr<element_iterator> iterate(const iterate_request& request) const override { return make_(request); }

private:
    const std::vector<tensor_type> components_;
    const std::string described_;
    const bool may_wait_;
    const iterator_maker make_;
    const names_function names_;
    const std::vector<std::uint64_t> seeds_;
};

RILL_COLD element_source_ptr make_source(std::vector<tensor_type> components, std::string described, bool may_wait,
                                         iterator_maker make, names_function names, std::vector<std::uint64_t> seeds) {
    return detail::make_shared<const made_source>(std::move(components), std::move(described), may_wait,
                                                  std::move(make), std::move(names), std::move(seeds));
}

/// Returns the sequence from which this thread draws seeds; null: random bits.
inline seed_sequence*& seed_sequence_slot() {
    static thread_local seed_sequence* open = nullptr;
    return open;
}

/// A scope in which this thread draws seeds from a sequence.
class seed_scope : scoped<seed_sequence*> {
public:
    explicit seed_scope(seed_sequence& from) : scoped(seed_sequence_slot(), &from) {}
};

RILL_COLD std::uint64_t drawn_seed() {
    auto* const open = seed_sequence_slot();
    return open ? hash_combine(open->base, open->drawn++) : random_bits();
}

inline names_function names_of(const element_source_ptr& from) {
    return [from] { return from->names(); };
}

/// Returns a source over another one. It keeps the other's names, waits and seeds.
inline element_source_ptr source_over(const element_source_ptr& from, std::vector<tensor_type> components,
                                      const std::string& step, iterator_maker make, bool keeps_names = true) {
    return make_source(std::move(components), from->described() + "." + step, from->may_wait(), std::move(make),
                       keeps_names ? names_of(from) : names_function(), from->seeds());
}

/// A request that owns its data and may outlive its caller.
class kept_request {
public:
    explicit kept_request(const iterate_request& r) : inputs_(r.inputs.begin(), r.inputs.end()), request_(r) {
        request_.inputs = inputs_;
    }
    kept_request(const kept_request&) = delete;
    const iterate_request* operator->() const { return &request_; }
    iterate_request of_epoch(std::uint64_t epoch) const {
        auto r = request_;
        r.epoch = epoch;
        return r;
    }

private:
    const std::vector<any_array> inputs_;
    iterate_request request_;
};

/// An iterator over one other iterator.
class iterator_over : public element_iterator {
public:
    explicit iterator_over(std::unique_ptr<element_iterator> from) : from_(std::move(from)) {}
    bool is_ready() override { return from_->is_ready(); }
    void save(iterator_archive& to) override { from_->save(to); }
    void restore(iterator_archive& from, const pull_context& context) override { from_->restore(from, context); }

protected:
    std::unique_ptr<element_iterator> from_;
};

inline void check_at_least(const char* what, std::int64_t n, std::int64_t least) {
    if (n < least)
        throw invalid_argument("dataset: " + std::string(what) + " is " + std::to_string(n) + "; it must be " +
                               std::to_string(least) + " or more");
}

/// An iterator with a position in a list of known length.
class counted_iterator : public element_iterator {
public:
    void save(iterator_archive& to) override { to.put(at_); }
    void restore(iterator_archive& from, const pull_context&) override {
        at_ = static_cast<std::int64_t>(from.count(std::numeric_limits<std::int64_t>::max()));
    }

protected:
    std::int64_t at_ = 0;
};

class filter_iterator final : public iterator_over {
public:
    filter_iterator(std::unique_ptr<element_iterator> from, const std::function<bool(const element_arrays&)>& keep)
        : iterator_over(std::move(from)), keep_(keep) {}
    bool is_ready() override { return false; } // may skip many elements
    bool next(element_arrays& to, const pull_context& context) override {
        while (from_->next(to, context)) {
            if (keep_(to)) return true;
            context.check();
        }
        return false;
    }

private:
    const std::function<bool(const element_arrays&)> keep_;
};

RILL_COLD element_source_ptr filter_source(element_source_ptr from, std::function<bool(const element_arrays&)> keep) {
    return source_over(from, from->components(), "filter", [from, keep = std::move(keep)](const iterate_request& r) {
        return std::make_unique<filter_iterator>(from->iterate(r), keep);
    });
}

class ignore_errors_iterator final : public iterator_over {
public:
    ignore_errors_iterator(std::unique_ptr<element_iterator> from, std::shared_ptr<std::atomic<std::int64_t>> count)
        : iterator_over(std::move(from)), count_(std::move(count)) {}
    bool is_ready() override { return false; } // may skip many elements
    bool next(element_arrays& to, const pull_context& context) override {
        for (;; context.check()) {
            try {
                return from_->next(to, context);
            } catch (const error& problem) {
                if (!is_bad_input(problem.code())) throw;
                if (count_) ++*count_;
            }
        }
    }

private:
    const std::shared_ptr<std::atomic<std::int64_t>> count_;
};

RILL_COLD element_source_ptr ignore_errors_source(element_source_ptr from,
                                                  std::shared_ptr<std::atomic<std::int64_t>> count) {
    return source_over(from, from->components(), "ignore_errors", [from, count](const iterate_request& r) {
        return std::make_unique<ignore_errors_iterator>(from->iterate(r), count);
    });
}

class repeat_iterator final : public element_iterator {
public:
    repeat_iterator(element_source_ptr from, std::int64_t count, const iterate_request& request)
        : source_(std::move(from)), count_(count), request_(request) {}
    bool is_ready() override { return from_ && from_->is_ready(); }
    bool next(element_arrays& to, const pull_context& context) override {
        for (;; context.check()) {
            if (!from_) {
                if (count_ >= 0 && epoch_ >= count_) return false;
                begin();
            }
            if (from_->next(to, context)) return is_empty_ = false, true;
            from_.reset();
            ++epoch_;
            if (std::exchange(is_empty_, true)) { // the source has no elements at all
                epoch_ = count_ = 0;
                return false;
            }
        }
    }
    void save(iterator_archive& to) override {
        to.put(epoch_);
        to.put(is_empty_);
        to.put(static_cast<std::int64_t>(from_ != nullptr));
        if (from_) from_->save(to);
    }
    void restore(iterator_archive& from, const pull_context& context) override {
        epoch_ = static_cast<std::int64_t>(from.count());
        is_empty_ = from.number() != 0;
        if (from.number() == 0) return;
        begin();
        from_->restore(from, context);
    }

private:
    void begin() {
        const auto number = static_cast<std::uint64_t>(epoch_), first = request_->epoch;
        from_ = source_->iterate(request_.of_epoch(number == 0 ? first : hash_combine(first, number)));
    }

    const element_source_ptr source_;
    std::int64_t count_;
    const kept_request request_;
    std::unique_ptr<element_iterator> from_;
    std::int64_t epoch_ = 0;
    bool is_empty_ = true; // this epoch, so far
};

RILL_COLD element_source_ptr repeat_source(element_source_ptr from, std::int64_t count) {
    check_at_least("the count of repeat", count, -1);
    return source_over(
        from, from->components(), "repeat(" + std::to_string(count) + ")",
        [from, count](const iterate_request& r) { return std::make_unique<repeat_iterator>(from, count, r); });
}

RILL_COLD element_source_ptr epoch_source(element_source_ptr from, std::uint64_t epoch) {
    if (epoch == 0) return from;
    return source_over(from, from->components(), "epoch(" + std::to_string(epoch) + ")",
                       [from, epoch](const iterate_request& r) {
                           return from->iterate(kept_request(r).of_epoch(hash_combine(r.epoch, epoch)));
                       });
}

RILL_COLD element_source_ptr memory_limit_source(element_source_ptr from, std::size_t bytes) {
    // not a part of the description: a resumed program may have another limit
    return make_source(
        from->components(), from->described(), from->may_wait(),
        [from, bytes](const iterate_request& r) {
            auto limited = r;
            limited.memory = std::make_shared<pipeline_memory>(bytes, r.memory);
            return from->iterate(limited);
        },
        names_of(from), from->seeds());
}

/// An iterator of each `step`-th element from `first` on, `count` of them (-1: all).
class strided_iterator final : public iterator_over {
public:
    strided_iterator(std::unique_ptr<element_iterator> from, std::int64_t first, std::int64_t step, std::int64_t count)
        : iterator_over(std::move(from)), skip_(first), step_(step), left_(count) {}
    bool is_ready() override { return left_ == 0 || (skip_ == 0 && from_->is_ready()); }
    bool next(element_arrays& to, const pull_context& context) override {
        if (left_ == 0) return false;
        for (; skip_ > 0; --skip_) {
            context.check();
            if (!from_->next(to, context)) return left_ = 0, false;
        }
        if (!from_->next(to, context)) return left_ = 0, false;
        skip_ = step_ - 1;
        if (left_ > 0) --left_;
        return true;
    }
    void save(iterator_archive& to) override {
        to.put(skip_);
        to.put(left_);
        from_->save(to);
    }
    void restore(iterator_archive& from, const pull_context& context) override {
        skip_ = from.number();
        left_ = from.number();
        from_->restore(from, context);
    }

private:
    std::int64_t skip_;
    const std::int64_t step_;
    std::int64_t left_;
};

inline element_source_ptr strided_source(const element_source_ptr& from, const std::string& described,
                                         std::int64_t first, std::int64_t step, std::int64_t count) {
    return source_over(from, from->components(), described, [=](const iterate_request& r) {
        return std::make_unique<strided_iterator>(from->iterate(r), first, step, count);
    });
}

RILL_COLD element_source_ptr take_source(element_source_ptr from, std::int64_t count) {
    check_at_least("the count of take", count, -1);
    return strided_source(from, "take(" + std::to_string(count) + ")", 0, 1, count);
}

RILL_COLD element_source_ptr skip_source(element_source_ptr from, std::int64_t count) {
    check_at_least("the count of skip", count, 0);
    return strided_source(from, "skip(" + std::to_string(count) + ")", count, 1, -1);
}

RILL_COLD element_source_ptr shard_source(element_source_ptr from, std::int64_t shards, std::int64_t index) {
    if (shards < 1 || index < 0 || index >= shards)
        throw invalid_argument("dataset: shard " + std::to_string(index) + " of " + std::to_string(shards) +
                               ": the index must be 0 or more, and less than the number of shards");
    return strided_source(from, "shard(" + std::to_string(shards) + ", " + std::to_string(index) + ")", index, shards,
                          -1);
}

class typed_iterator final : public iterator_over {
public:
    typed_iterator(std::unique_ptr<element_iterator> from, std::vector<tensor_type> wanted)
        : iterator_over(std::move(from)), wanted_(std::move(wanted)) {}
    bool next(element_arrays& to, const pull_context& context) override {
        if (!from_->next(to, context)) return false;
        std::vector<tensor_type> types;
        for (const auto& a : to) types.push_back(a.type());
        require_components("dataset", types, wanted_);
        return true;
    }

private:
    const std::vector<tensor_type> wanted_;
};

RILL_COLD element_source_ptr typed_source(element_source_ptr from, std::vector<tensor_type> components) {
    require_components("dataset", from->components(), components);
    return source_over(from, components, "as" + tuple_text(components), [from, components](const iterate_request& r) {
        return std::make_unique<typed_iterator>(from->iterate(r), components);
    });
}

/// Returns a number for a loop, so that random ops of its maps draw other numbers than in earlier loops.
inline std::uint64_t number_of_loop() {
    static std::atomic<std::uint64_t> loops{0};
    return loops++;
}

RILL_COLD element_loop::element_loop(element_source_ptr source)
    : source_(std::move(source)), iterator_(source_->iterate({.iteration = number_of_loop()})) {}

RILL_INLINE bool element_loop::next(element_arrays& to) { return iterator_->next(to, {environment::real()}); }

}}} // namespace rill::RILL_ABI::detail
