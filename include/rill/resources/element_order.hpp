// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The order in which the elements of a queue leave.
class element_order {
public:
    virtual ~element_order() = default;
    virtual void put(std::int32_t slot, std::int64_t priority) = 0;
    virtual std::int32_t take() = 0;
    /// Adds several slots; only for orders without priorities.
    virtual void put_all(std::span<const std::int32_t> slots) {
        for (const auto slot : slots) put(slot, 0);
    }
    /// Takes the next n slots and appends them to `to`.
    virtual void take_many(std::size_t n, std::vector<std::int32_t>& to) {
        for (; n > 0; --n) to.push_back(take());
    }
    /// Puts a taken slot back; several slots must be put back in reverse order. FIFO and priority orders return it before its equals.
    virtual void put_back(std::int32_t slot, std::int64_t priority) = 0;
    /// Takes the slot that is last in the order.
    virtual std::int32_t take_last() = 0;
    virtual std::size_t size() const = 0;
    /// Returns the slots in the order in which `put` calls rebuild this order.
    virtual std::vector<std::int32_t> slots() const = 0;
    /// Returns the number of random draws; 0 for other orders.
    virtual std::uint64_t drawn() const { return 0; }
    virtual void set_drawn(std::uint64_t) {}
};

std::unique_ptr<element_order> first_in_first_out();
/// Returns a random order, drawn from a generator with this seed.
std::unique_ptr<element_order> in_random_order(std::uint64_t seed);
/// Returns an order by ascending priority number; equal priorities leave in arrival order.
std::unique_ptr<element_order> by_priority();

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
#include <deque>
#include <set>
#include <tuple>

#include <rill/device/philox.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The base of orders that keep their slots in a sequence, in order of arrival.
template <class Slots> class sequence_order : public element_order {
public:
    void put(std::int32_t slot, std::int64_t) final { slots_.push_back(slot); }
    std::int32_t take_last() final {
        const auto slot = slots_.back();
        slots_.pop_back();
        return slot;
    }
    std::size_t size() const final { return slots_.size(); }
    std::vector<std::int32_t> slots() const final { return {slots_.begin(), slots_.end()}; }

protected:
    Slots slots_;
};

class fifo_order final : public sequence_order<std::deque<std::int32_t>> {
public:
    void put_back(std::int32_t slot, std::int64_t) override { slots_.push_front(slot); }
    std::int32_t take() override {
        const auto slot = slots_.front();
        slots_.pop_front();
        return slot;
    }
    void put_all(std::span<const std::int32_t> slots) override {
        slots_.insert(slots_.end(), slots.begin(), slots.end());
    }
    void take_many(std::size_t n, std::vector<std::int32_t>& to) override {
        const auto end = slots_.begin() + static_cast<std::ptrdiff_t>(n);
        to.insert(to.end(), slots_.begin(), end);
        slots_.erase(slots_.begin(), end);
    }
};

class random_order final : public sequence_order<std::vector<std::int32_t>> {
public:
    explicit random_order(std::uint64_t seed) : stream_{seed} {}
    void put_back(std::int32_t slot, std::int64_t) override { slots_.push_back(slot); }
    std::int32_t take() override {
        const auto bits = stream_.block(drawn_++);
        const std::uint64_t wide = bits[0] | std::uint64_t(bits[1]) << 32;
        std::swap(slots_[wide % slots_.size()], slots_.back());
        return take_last();
    }
    std::uint64_t drawn() const override { return drawn_; }
    void set_drawn(std::uint64_t drawn) override { drawn_ = drawn; }

private:
    random_stream stream_;
    std::uint64_t drawn_ = 0;
};

class priority_order final : public element_order {
public:
    void put(std::int32_t slot, std::int64_t priority) override { slots_.insert({priority, ++last_, slot}); }
    void put_back(std::int32_t slot, std::int64_t priority) override { slots_.insert({priority, --first_, slot}); }
    std::int32_t take() override { return take(slots_.begin()); }
    std::int32_t take_last() override { return take(std::prev(slots_.end())); }
    std::size_t size() const override { return slots_.size(); }
    std::vector<std::int32_t> slots() const override {
        std::vector<std::int32_t> in_order;
        for (const auto& s : slots_) in_order.push_back(std::get<2>(s));
        return in_order;
    }

private:
    using all = std::set<std::tuple<std::int64_t, std::int64_t, std::int32_t>>; // priority, arrival number, slot

    std::int32_t take(all::iterator at) {
        const auto slot = std::get<2>(*at);
        slots_.erase(at);
        return slot;
    }

    all slots_;
    std::int64_t first_ = 0, last_ = 0;
};

RILL_COLD std::unique_ptr<element_order> first_in_first_out() { return std::make_unique<fifo_order>(); }
RILL_COLD std::unique_ptr<element_order> in_random_order(std::uint64_t seed) {
    return std::make_unique<random_order>(seed);
}
RILL_COLD std::unique_ptr<element_order> by_priority() { return std::make_unique<priority_order>(); }

}}} // namespace rill::RILL_ABI::detail
#endif
