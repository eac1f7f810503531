// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/data/pipeline.hpp>

#include <array>
#include <memory>
#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/core/hash.hpp>
#include <rill/data/pipeline.ipp>
#include <rill/data/pipeline_groups.ipp>

// Transformations that read several sources.

namespace rill { inline namespace RILL_ABI { namespace detail {

class zip_iterator final : public element_iterator {
public:
    explicit zip_iterator(std::vector<std::unique_ptr<element_iterator>> from) : from_(std::move(from)) {}
    bool is_ready() override {
        return detail::all_of(from_, [](const auto& f) { return f->is_ready(); });
    }
    bool next(element_arrays& to, const pull_context& context) override {
        while (got_.size() < from_.size()) { // a step that is over leaves the earlier parts here
            auto part = pull(*from_[got_.size()], context);
            if (part.is_end) return false;
            got_.push_back(std::move(part));
        }
        auto all = std::exchange(got_, {});
        // an element fails as a whole: each source has moved on by one, so that the next parts belong together
        for (const auto& part : all)
            if (part.problem) std::rethrow_exception(part.problem);
        to.clear();
        for (auto& part : all)
            for (auto& a : part.arrays) to.push_back(std::move(a));
        return true;
    }
    void save(iterator_archive& to) override {
        to.put(static_cast<std::int64_t>(got_.size()));
        for (const auto& part : got_) save_pulled(to, part);
        for (const auto& f : from_) f->save(to);
    }
    void restore(iterator_archive& from, const pull_context& context) override {
        for (auto n = from.count(static_cast<std::int64_t>(from_.size())); n > 0; --n)
            got_.push_back(restore_pulled(from));
        for (const auto& f : from_) f->restore(from, context);
    }

private:
    const std::vector<std::unique_ptr<element_iterator>> from_;
    std::vector<pulled_element> got_; // the parts of the next element so far
};

RILL_COLD element_source_ptr zip_source(std::vector<element_source_ptr> all) {
    std::vector<tensor_type> components;
    std::vector<std::uint64_t> seeds;
    std::string text;
    bool may_wait = false;
    for (const auto& s : all) {
        components.insert(components.end(), s->components().begin(), s->components().end());
        text += (text.empty() ? "" : ", ") + s->described();
        may_wait = may_wait || s->may_wait();
        const auto drawn = s->seeds();
        seeds.insert(seeds.end(), drawn.begin(), drawn.end());
    }
    return make_source(
        std::move(components), "zip(" + text + ")", may_wait,
        [all](const iterate_request& r) {
            std::vector<std::unique_ptr<element_iterator>> each;
            for (const auto& s : all) each.push_back(s->iterate(r));
            return std::make_unique<zip_iterator>(std::move(each));
        },
        {}, std::move(seeds));
}

/// An iterator that reads sources in sequence.
class chain_iterator final : public element_iterator {
public:
    chain_iterator(std::unique_ptr<element_iterator> first, std::unique_ptr<element_iterator> second)
        : from_{std::move(first), std::move(second)} {}
    bool is_ready() override { return from_[at_]->is_ready(); }
    bool next(element_arrays& to, const pull_context& context) override {
        if (from_[at_]->next(to, context)) return true;
        return at_ == 0 && from_[at_ = 1]->next(to, context);
    }
    void save(iterator_archive& to) override {
        to.put(static_cast<std::int64_t>(at_));
        from_[at_]->save(to);
    }
    void restore(iterator_archive& from, const pull_context& context) override {
        at_ = from.count(1);
        from_[at_]->restore(from, context);
    }

private:
    const std::array<std::unique_ptr<element_iterator>, 2> from_;
    std::size_t at_ = 0;
};

RILL_COLD element_source_ptr concatenate_source(element_source_ptr first, element_source_ptr second) {
    std::vector<tensor_type> components = first->components();
    for (std::size_t i = 0; i < components.size(); ++i) { // different extents become dyn
        const auto& other = second->components()[i].shape;
        auto& shape = components[i].shape;
        for (int k = 0; k < shape.rank && shape.rank == other.rank; ++k)
            if (shape[k] != other[k]) shape[k] = dyn;
    }
    auto seeds = first->seeds();
    const auto more = second->seeds();
    seeds.insert(seeds.end(), more.begin(), more.end());
    return make_source(
        std::move(components), first->described() + ".concatenate(" + second->described() + ")",
        first->may_wait() || second->may_wait(),
        [=](const iterate_request& r) {
            return std::make_unique<chain_iterator>(first->iterate(r), second->iterate(r));
        },
        names_of(first), std::move(seeds));
}

struct interleave_rule {
    std::function<element_source_ptr(element_arrays&&)> f;
    std::size_t cycle;
    index_t block;
};

class interleave_iterator final : public iterator_over {
public:
    interleave_iterator(const element_source& from, std::shared_ptr<const interleave_rule> rule, std::uint64_t seed,
                        const iterate_request& r)
        : iterator_over(from.iterate(r)), rule_(std::move(rule)), seed_(hash_combine(seed, r.epoch)), request_(r),
          open_(rule_->cycle) {}
    bool is_ready() override { return false; }
    bool next(element_arrays& to, const pull_context& context) override {
        for (std::size_t closed = 0; closed < open_.size() || !is_over_; context.check()) {
            auto& slot = open_[at_];
            if (!slot.from && !is_over_) {
                element_arrays element;
                is_over_ = !from_->next(element, context);
                if (!is_over_) begin(slot, std::move(element), begun_++);
            }
            if (!slot.from) {
                ++closed;
                advance();
                continue;
            }
            closed = 0;
            if (slot.from->next(to, context)) {
                if (++given_ == rule_->block) advance();
                return true;
            }
            slot = {};
            advance();
        }
        return false;
    }
    void save(iterator_archive& to) override {
        to.put(static_cast<std::int64_t>(at_));
        to.put(given_);
        to.put(static_cast<std::int64_t>(is_over_));
        to.put(begun_);
        for (const auto& s : open_) {
            to.put(static_cast<std::int64_t>(s.from != nullptr));
            if (!s.from) continue;
            to.put(s.number);
            to.put(s.element);
            s.from->save(to);
        }
        from_->save(to);
    }
    void restore(iterator_archive& from, const pull_context& context) override {
        at_ = from.count(static_cast<std::int64_t>(open_.size()) - 1);
        given_ = from.number();
        is_over_ = from.number() != 0;
        begun_ = from.number();
        for (auto& s : open_) {
            if (from.number() == 0) continue;
            const auto number = from.number();
            begin(s, from.element(), number);
            s.from->restore(from, context);
        }
        from_->restore(from, context);
    }

private:
    /// An open source, and the element from which it was made.
    struct open_source {
        element_arrays element = {};
        std::int64_t number = 0; // the number of earlier elements
        element_source_ptr source = {};
        std::unique_ptr<element_iterator> from = {};
    };
    void begin(open_source& slot, element_arrays element, std::int64_t number) const {
        const auto of_element = hash_combine(seed_, static_cast<std::uint64_t>(number));
        seed_sequence seeds{of_element};
        const seed_scope here(seeds);
        open_source made{std::move(element), number};
        made.source = rule_->f(element_arrays(made.element));
        // Seeds of a source that f did not make were drawn by this process. Another process that resumes uses
        // them.
        auto table = std::make_shared<seed_table>();
        table->drawn = made.source->seeds();
        for (std::size_t i = 0; i < table->drawn.size(); ++i) table->saved.push_back(hash_combine(seed_, ~i));
        made.from = made.source->iterate({.epoch = request_->epoch,
                                          .iteration = hash_combine(request_->iteration, of_element),
                                          .seeds = table->drawn.empty() ? nullptr : std::move(table),
                                          .memory = request_->memory});
        slot = std::move(made);
    }
    void advance() {
        at_ = (at_ + 1) % open_.size();
        given_ = 0;
    }

    const std::shared_ptr<const interleave_rule> rule_;
    const std::uint64_t seed_;
    const kept_request request_;
    std::vector<open_source> open_;
    std::int64_t begun_ = 0;
    std::size_t at_ = 0;
    index_t given_ = 0; // of this block
    bool is_over_ = false;
};

RILL_COLD element_source_ptr interleave_source(element_source_ptr from, std::vector<tensor_type> components,
                                               std::function<element_source_ptr(element_arrays&&)> f, index_t cycle,
                                               index_t block) {
    check_at_least("the cycle of interleave", cycle, 1);
    check_at_least("the block of interleave", block, 1);
    auto rule =
        std::make_shared<const interleave_rule>(interleave_rule{std::move(f), static_cast<std::size_t>(cycle), block});
    auto seeds = from->seeds();
    const auto seed = drawn_seed();
    seeds.push_back(seed);
    // the sources that f makes may wait
    return make_source(
        std::move(components),
        from->described() + ".interleave(" + std::to_string(cycle) + ", " + std::to_string(block) + ")", true,
        [from, rule, seed](const iterate_request& r) {
            return std::make_unique<interleave_iterator>(*from, rule, r.seed_of(seed), r);
        },
        {}, std::move(seeds));
}

}}} // namespace rill::RILL_ABI::detail
