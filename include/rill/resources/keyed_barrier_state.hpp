// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include <rill/resources/element_slots.hpp>
#include <rill/resources/waited_resource.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A barrier of tuples whose components arrive one by one under a key (TensorFlow's Barrier). A complete tuple is ready to be taken. Tuples
/// leave in the order in which their keys arrived.
class RILL_EXPORT keyed_barrier_state final : public waited_resource {
public:
    static constexpr auto kind = "keyed_barrier";

    keyed_barrier_state(std::string name, std::vector<tensor_type> components, allocator& memory)
        : waited_resource(std::move(name)), components_(std::move(components)), slots_(components_, memory) {}

    static std::string described_as(std::span<const tensor_type> components);
    std::string described() const override { return described_as(components_); }
    const std::vector<tensor_type>& components() const noexcept { return components_; }

    /// Inserts component i for each key, a slice of `values` each. Inserts all or, on an error, none. Never waits.
    void insert_many(index_t i, const any_array& keys, const any_array& values);
    /// Takes n ready tuples: arrival numbers of the keys (from the least int64), the keys, and the components as batches. Returns true if
    /// done at once; otherwise it completes `wait` later. `allow_small_batch`: a closed barrier gives the tuples that are ready.
    bool take_many(index_t n, bool allow_small_batch, async_context& wait, any_array* out);
    /// Closes the barrier to new keys; with `cancel_pending_enqueues`, also to missing components of old keys. A second close throws
    /// `cancelled`, unless it is the first to cancel.
    void close(bool cancel_pending_enqueues);
    index_t ready_size() const;
    index_t incomplete_size() const;

private:
    struct part {
        std::int64_t came = 0;
        std::vector<any_array> components = {}; // empty: not inserted yet
        std::size_t missing = 0;
    };
    struct element {
        std::string key;
        std::int32_t slot;
    };
    struct call : attempt {
        bool small = false;
    };

    std::string described_kind() const override { return kind; }
    RILL_INLINE bool serve(attempt& a) override;
    attempt_ptr kept(attempt& a) override { return std::make_shared<call>(static_cast<call&&>(a)); }
    void check_insert(index_t i, const any_array& keys, const any_array& values) const;
    void put(const std::string& key, std::size_t i, any_array value);

    const std::vector<tensor_type> components_;
    element_slots slots_;
    std::unordered_map<std::string, part> incomplete_;
    std::map<std::int64_t, element> ready_; // by the arrival number of the key
    std::int64_t next_ = std::numeric_limits<std::int64_t>::min();
    bool closed_ = false, cancelled_ = false;
};

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
#include <algorithm>
#include <unordered_set>
#include <utility>

#include <rill/core/shape_rules.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD std::string keyed_barrier_state::described_as(std::span<const tensor_type> components) {
    return std::string(kind) + " of " + tuple_text(components);
}

RILL_INLINE void keyed_barrier_state::check_insert(index_t i, const any_array& keys, const any_array& values) const {
    const auto refuse = [&](const std::string& why) { throw invalid_argument(named() + ": " + why); };
    if (i < 0 || i >= static_cast<index_t>(components_.size()))
        refuse("there is no component " + std::to_string(i) + " of " + std::to_string(components_.size()));
    const auto& wanted = components_[static_cast<std::size_t>(i)];
    if (keys.dtype() != dtype::string || keys.shape().rank != 1)
        refuse("the keys are a vector of strings, not " + to_string(keys.type()));
    if (values.dtype() != wanted.type || values.shape().rank < 1 ||
        !rules::compatible(rules::slice(values.shape()), wanted.shape))
        refuse("component " + std::to_string(i) + " is " + to_string(wanted) + ", no batch of it is " +
               to_string(values.type()));
    if (values.shape()[0] != keys.shape()[0])
        refuse("there are " + std::to_string(keys.shape()[0]) + " keys and " + std::to_string(values.shape()[0]) +
               " values");
}

RILL_INLINE void keyed_barrier_state::insert_many(index_t i, const any_array& keys, const any_array& values) {
    check_insert(i, keys, values);
    const auto at = static_cast<std::size_t>(i);
    const tensor_type one{values.dtype(), rules::slice(values.shape())};
    const std::size_t bytes = one.bytes();
    const auto names = keys.elements<std::string>();
    change([&] {
        std::unordered_set<std::string> new_here;
        for (const auto& k : names) {
            const auto there = incomplete_.find(k);
            const bool old = there != incomplete_.end();
            if (cancelled_ || (closed_ && !old))
                throw cancelled(named() + " is closed: " + (old ? "nothing comes for '" : "there is no new key '") + k +
                                "' any more");
            if ((old && !there->second.components[at].empty()) || !new_here.insert(k).second)
                throw invalid_argument(named() + ": key '" + k + "' has a value for component " + std::to_string(i) +
                                       " already");
        }
        const auto* from = static_cast<const std::byte*>(values.data());
        for (const auto& k : names) {
            any_array value(one.type, one.shape, slots_.memory());
            copy_elements(one.type, from, value.mutable_data(), value.size());
            put(k, at, std::move(value));
            from += bytes;
        }
    });
}

RILL_INLINE void keyed_barrier_state::put(const std::string& key, std::size_t i, any_array value) {
    const auto [at, fresh] = incomplete_.try_emplace(key);
    auto& p = at->second;
    if (fresh) p = {next_++, std::vector<any_array>(components_.size()), components_.size()};
    p.components[i] = std::move(value);
    if (--p.missing > 0) return;
    ready_.emplace(p.came, element{key, slots_.put(std::move(p.components))});
    incomplete_.erase(at);
}

RILL_INLINE bool keyed_barrier_state::take_many(index_t n, bool allow_small_batch, async_context& wait,
                                                any_array* out) {
    if (n < 0) throw invalid_argument(named() + ": " + std::to_string(n) + " elements are asked for");
    return start(call{{.count = n}, allow_small_batch}, wait, out);
}

RILL_INLINE bool keyed_barrier_state::serve(attempt& a) {
    const auto left = static_cast<index_t>(ready_.size());
    if (left < a.count) {
        if (!closed_) return false;
        const bool small = static_cast<call&>(a).small;
        const index_t to_come = small || cancelled_ ? 0 : static_cast<index_t>(incomplete_.size());
        if (small && left > 0)
            a.count = left;
        else if (left + to_come >= a.count)
            return false;
        else
            throw out_of_range(named() + " is closed and has insufficient elements (requested " +
                               std::to_string(a.count) + ", total size " + std::to_string(left + to_come) + ")");
    }
    any_array when(dtype::int64, dims{a.count}), keys(dtype::string, dims{a.count});
    std::vector<std::int32_t> taken;
    const auto end = std::next(ready_.begin(), static_cast<std::ptrdiff_t>(a.count));
    for (auto at = ready_.begin(); at != end; ++at) {
        static_cast<std::int64_t*>(when.mutable_data())[taken.size()] = at->first;
        static_cast<std::string*>(keys.mutable_data())[taken.size()] = at->second.key;
        taken.push_back(at->second.slot);
    }
    a.outputs = slots_.stacked(taken, false); // throws if shapes differ, before anything is taken
    a.outputs.insert(a.outputs.begin(), {std::move(when), std::move(keys)});
    slots_.drop(taken);
    ready_.erase(ready_.begin(), end);
    return true;
}

RILL_INLINE void keyed_barrier_state::close(bool cancel_pending_enqueues) {
    change([&] {
        if (closed_ && (cancelled_ || !cancel_pending_enqueues)) throw cancelled(named() + " is already closed");
        closed_ = true;
        cancelled_ = cancel_pending_enqueues;
    });
}

RILL_INLINE index_t keyed_barrier_state::ready_size() const {
    const std::lock_guard lock(mutex_);
    return static_cast<index_t>(ready_.size());
}

RILL_INLINE index_t keyed_barrier_state::incomplete_size() const {
    const std::lock_guard lock(mutex_);
    return static_cast<index_t>(incomplete_.size());
}

}}} // namespace rill::RILL_ABI::detail
#endif
