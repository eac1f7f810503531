// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <rill/config.hpp>
#include <rill/core/hash.hpp>
#include <rill/core/hash_index.hpp>
#include <rill/core/vector.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Computes the hash of a key: a number, pointer, text, or a pair, tuple or list of keys.
template <class K> std::uint64_t hash_key(const K& key) {
    if constexpr (std::is_convertible_v<const K&, std::string_view>)
        return hash_bytes(key);
    else if constexpr (std::is_pointer_v<K>)
        return mix(reinterpret_cast<std::uintptr_t>(key));
    else if constexpr (std::is_integral_v<K> || std::is_enum_v<K>)
        return mix(static_cast<std::uint64_t>(key));
    else if constexpr (requires { std::tuple_size<K>::value; })
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
            std::uint64_t h = 0;
            ((h = hash_combine(h, hash_key(std::get<I>(key)))), ...);
            return h;
        }(std::make_index_sequence<std::tuple_size_v<K>>());
    else {
        std::uint64_t h = 0;
        for (const auto& part : key) h = hash_combine(h, hash_key(part));
        return h;
    }
}

/// A replacement for std::unordered_map without erasure of single keys, for the library's own look-ups. Entries are kept in
/// insertion order, so iteration is the same in every run. One hash_index class serves all types: six functions per type instead of some twenty.
/// Insertions may move entries.
template <class K, class V> class hash_map {
public:
    struct entry {
        K first;
        V second;
    };
    struct placed {
        entry* at;
        bool is_new;
    };

    hash_map() noexcept = default;
    hash_map(std::initializer_list<entry> entries) {
        for (const auto& [key, value] : entries) try_emplace(key, value);
    }

    entry* begin() noexcept { return entries_.begin(); }
    entry* end() noexcept { return entries_.end(); }
    const entry* begin() const noexcept { return entries_.begin(); }
    const entry* end() const noexcept { return entries_.end(); }
    std::size_t size() const noexcept { return entries_.size(); }
    bool empty() const noexcept { return entries_.empty(); }
    void reserve(std::size_t n) {
        entries_.reserve(n);
        index_.reserve(n);
    }
    void clear() noexcept { *this = hash_map(); }

    template <class Q = K> const entry* find(const Q& key) const { return begin() + place_of(hash_key(key), key); }
    template <class Q = K> entry* find(const Q& key) { return begin() + place_of(hash_key(key), key); }
    template <class Q = K> bool contains(const Q& key) const { return find(key) != end(); }
    /// Returns the value of a key. Throws std::out_of_range if the key is absent.
    template <class Q = K> const V& at(const Q& key) const {
        const std::size_t place = place_of(hash_key(key), key);
        if (place == size()) hash_index::throw_unknown();
        return entries_[place].second;
    }
    template <class Q = K> V& at(const Q& key) { return const_cast<V&>(std::as_const(*this).at(key)); }
    /// Inserts an entry constructed from `values` if the key is absent.
    template <class... Values> placed try_emplace(K key, Values&&... values) {
        const std::uint64_t hash = hash_key(key);
        const std::size_t at = place_of(hash, key);
        if (at != size()) return {begin() + at, false};
        index_.reserve(at + 1); // allocate before the insertion: it may throw
        entries_.emplace_back(entry{std::move(key), V(std::forward<Values>(values)...)});
        index_.add(hash, static_cast<std::uint32_t>(at));
        return {begin() + at, true};
    }
    V& operator[](const K& key) { return try_emplace(key).at->second; }
    /// Erases the entries for which drop(entry) is true, in linear time and without an allocation.
    template <class Predicate> friend void erase_if(hash_map& m, const Predicate& drop) noexcept {
        erase_if(m.entries_, drop);
        m.index_.clear();
        for (std::size_t at = 0; at < m.size(); ++at)
            m.index_.add(hash_key(m.entries_[at].first), static_cast<std::uint32_t>(at));
    }

private:
    template <class Q = K> std::size_t place_of(std::uint64_t hash, const Q& key) const {
        const std::uint32_t at = index_.find(hash, [&](std::uint32_t i) { return entries_[i].first == key; });
        return at == hash_index::none ? size() : at;
    }

    vector<entry> entries_;
    hash_index index_;
};

/// A set with the properties of hash_map.
template <class K> class hash_set {
public:
    hash_set() noexcept = default;
    hash_set(std::initializer_list<K> keys) {
        for (const K& key : keys) insert(key);
    }

    const K* begin() const noexcept { return keys_.begin(); }
    const K* end() const noexcept { return keys_.end(); }
    std::size_t size() const noexcept { return keys_.size(); }
    bool empty() const noexcept { return keys_.empty(); }
    template <class Q = K> bool contains(const Q& key) const { return holds(hash_key(key), key); }
    /// Inserts a key; returns true if it was absent.
    bool insert(K key) {
        const std::uint64_t hash = hash_key(key);
        if (holds(hash, key)) return false;
        index_.reserve(size() + 1);
        keys_.push_back(std::move(key));
        index_.add(hash, static_cast<std::uint32_t>(size() - 1));
        return true;
    }

private:
    template <class Q = K> bool holds(std::uint64_t hash, const Q& key) const {
        return index_.find(hash, [&](std::uint32_t i) { return keys_[i] == key; }) != hash_index::none;
    }

    vector<K> keys_;
    hash_index index_;
};

}}} // namespace rill::RILL_ABI::detail
