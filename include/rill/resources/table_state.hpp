// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <rill/core/any_array.hpp>
#include <rill/core/resource.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The attributes of a hash table's node.
struct table_traits {
    dtype key = dtype::invalid, value = dtype::invalid;
    bool from_file = false; // only an initializer fills the table

    /// Throws invalid_argument if the dtypes are not supported.
    void check() const;
};

/// A hash table whose calls are atomic: each call sees all earlier ones completely.
class RILL_EXPORT table_state final : public resource {
public:
    static constexpr auto kind = "hash_table";

    table_state(std::string name, const table_traits& traits);

    static std::string described_as(const table_traits& t);
    std::string described() const override { return described_as(traits_); }

    /// Inserts one value for each key; an existing key's value is replaced.
    void insert(const any_array& keys, const any_array& values);
    /// Returns the values of keys, and `otherwise` (of rank 0) for missing ones. Throws not_found for a missing key if `otherwise` is null.
    any_array find(const any_array& keys, const any_array* otherwise) const;
    /// Removes keys; missing ones are ignored.
    void remove(const any_array& keys);
    index_t size() const;
    /// Returns all keys and their values in insertion order. A removal changes the order: the last entry moves into the gap.
    std::pair<any_array, any_array> entries() const;
    /// Returns "keys" and "values"; nothing for a table that is filled from a file.
    RILL_INLINE std::vector<named_array> saved_parts() const override;
    RILL_INLINE void restore_parts(std::span<const named_array> parts) override;
    RILL_INLINE void check_parts(std::span<const named_array> parts) const override;
    /// Fills the table from the lines of a file: word to line number (from 0), or line number to word. A filled table stays as it is.
    /// Throws invalid_argument with the line of a repeated word.
    void fill_from(const std::string& path);

private:
    /// The keys in order, and the index of each key's value.
    template <class K> struct key_list {
        std::unordered_map<K, index_t> at;
        std::vector<K> all;
    };
    using any_key_list = std::variant<key_list<std::int64_t>, key_list<std::string>>;

    std::string named() const { return std::string(kind) + " '" + name_ + "'"; }
    void check_ready() const;
    void check_writable() const;
    void check_type(const char* what, dtype is, dtype wanted) const;
    /// Inserts checked arrays; call it under the lock.
    void put(const any_array& keys, const any_array& values);
    /// Calls f(list, key): key(i) is key i in the type that the table holds, int64 or string.
    template <class Lists, class F> static auto with_keys(Lists& lists, const any_array& keys, const F& f);
    void make_room();

    const std::string name_;
    const table_traits traits_;
    mutable std::mutex mutex_;
    any_key_list keys_;
    any_array values_; // sized to the capacity; only the first entries are used
    bool ready_ = false;
};

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
#include <algorithm>

#include <rill/core/text_file.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void table_traits::check() const {
    if (key != dtype::int32 && key != dtype::int64 && key != dtype::string)
        throw invalid_argument("keys are int32, int64 or string, not " + std::string(to_string(key)));
    if (value == dtype::invalid) throw invalid_argument("the dtype of its values is not known");
    const bool words =
        (key == dtype::string && value == dtype::int64) || (key == dtype::int64 && value == dtype::string);
    if (from_file && !words)
        throw invalid_argument("from a file come words by int64 or int64 by words, not " +
                               std::string(to_string(value)) + " by " + std::string(to_string(key)));
}

RILL_COLD std::string table_state::described_as(const table_traits& t) {
    return std::string(kind) + " of " + std::string(to_string(t.key)) + " to " + std::string(to_string(t.value)) +
           (t.from_file ? ", from a file" : "");
}

RILL_COLD table_state::table_state(std::string name, const table_traits& traits)
    : name_(std::move(name)), traits_(traits), values_(traits.value, dims{0}), ready_(!traits.from_file) {
    if (traits_.key == dtype::string) keys_.emplace<1>();
}

RILL_INLINE void table_state::check_ready() const {
    if (!ready_) throw failed_precondition(named() + " has not been filled: run tables_initializer() first");
}

RILL_COLD void table_state::check_writable() const {
    if (traits_.from_file) throw failed_precondition(named() + " is filled from a file: it can't be changed");
}

RILL_INLINE void table_state::check_type(const char* what, dtype is, dtype wanted) const {
    if (is != wanted)
        throw invalid_argument(named() + ": its " + what + " are " + std::string(to_string(wanted)) + ", not " +
                               std::string(to_string(is)));
}

template <class Lists, class F> auto table_state::with_keys(Lists& lists, const any_array& keys, const F& f) {
    if (keys.dtype() == dtype::string)
        return f(std::get<1>(lists), [all = keys.elements<std::string>()](index_t i) -> const std::string& {
            return all[static_cast<std::size_t>(i)];
        });
    if (keys.dtype() == dtype::int32)
        return f(std::get<0>(lists), [all = keys.elements<std::int32_t>()](index_t i) -> std::int64_t {
            return all[static_cast<std::size_t>(i)];
        });
    return f(std::get<0>(lists), [all = keys.elements<std::int64_t>()](index_t i) -> std::int64_t {
        return all[static_cast<std::size_t>(i)];
    });
}

/// Returns the address of element i of an array.
inline const void* element_at(const any_array& a, index_t i) {
    return static_cast<const std::byte*>(a.data()) + static_cast<std::size_t>(i) * size_of(a.dtype());
}
inline void* element_at(any_array& a, index_t i) {
    return static_cast<std::byte*>(a.mutable_data()) + static_cast<std::size_t>(i) * size_of(a.dtype());
}

RILL_INLINE void table_state::make_room() {
    const index_t used = std::visit([](const auto& list) { return static_cast<index_t>(list.all.size()); }, keys_);
    if (used < values_.size()) return;
    any_array larger(traits_.value, dims{std::max<index_t>(used * 2, 16)});
    copy_elements(traits_.value, values_.data(), larger.mutable_data(), used);
    values_ = std::move(larger);
}

RILL_INLINE void table_state::insert(const any_array& keys, const any_array& values) {
    check_type("keys", keys.dtype(), traits_.key);
    check_type("values", values.dtype(), traits_.value);
    if (keys.shape() != values.shape())
        throw invalid_argument(named() + ": keys of the shape " + to_string(keys.shape()) +
                               " and values of the shape " + to_string(values.shape()) + " don't go together");
    check_writable();
    const std::lock_guard lock(mutex_);
    put(keys, values);
}

RILL_INLINE void table_state::put(const any_array& keys, const any_array& values) {
    with_keys(keys_, keys, [&](auto& list, const auto& key) {
        for (index_t i = 0; i < keys.size(); ++i) {
            make_room();
            const auto [at, fresh] = list.at.try_emplace(key(i), static_cast<index_t>(list.all.size()));
            if (fresh) list.all.push_back(at->first);
            copy_elements(traits_.value, element_at(values, i), element_at(values_, at->second), 1);
        }
    });
}

RILL_INLINE any_array table_state::find(const any_array& keys, const any_array* otherwise) const {
    check_type("keys", keys.dtype(), traits_.key);
    if (otherwise) check_type("values", otherwise->dtype(), traits_.value);
    any_array found(traits_.value, keys.shape());
    const std::lock_guard lock(mutex_);
    check_ready();
    with_keys(keys_, keys, [&](const auto& list, const auto& key) {
        for (index_t i = 0; i < keys.size(); ++i) {
            const auto at = list.at.find(key(i));
            if (at == list.at.end() && !otherwise) {
                if constexpr (std::is_same_v<std::remove_cvref_t<decltype(key(i))>, std::string>)
                    throw not_found(named() + " has no key \"" + key(i) + "\"");
                else
                    throw not_found(named() + " has no key " + std::to_string(key(i)));
            }
            copy_elements(traits_.value, at == list.at.end() ? otherwise->data() : element_at(values_, at->second),
                          element_at(found, i), 1);
        }
    });
    return found;
}

RILL_INLINE void table_state::remove(const any_array& keys) {
    check_type("keys", keys.dtype(), traits_.key);
    check_writable();
    const std::lock_guard lock(mutex_);
    with_keys(keys_, keys, [&](auto& list, const auto& key) {
        for (index_t i = 0; i < keys.size(); ++i) {
            const auto at = list.at.find(key(i));
            if (at == list.at.end()) continue;
            // The last entry moves into the gap.
            const index_t place = at->second, last = static_cast<index_t>(list.all.size()) - 1;
            list.at.erase(at);
            if (place != last) {
                list.at[list.all.back()] = place;
                list.all[static_cast<std::size_t>(place)] = std::move(list.all.back());
                copy_elements(traits_.value, element_at(values_, last), element_at(values_, place), 1);
            }
            list.all.pop_back();
        }
    });
}

RILL_INLINE index_t table_state::size() const {
    const std::lock_guard lock(mutex_);
    check_ready();
    return std::visit([](const auto& list) { return static_cast<index_t>(list.all.size()); }, keys_);
}

RILL_INLINE std::pair<any_array, any_array> table_state::entries() const {
    const std::lock_guard lock(mutex_);
    check_ready();
    return std::visit(
        [&](const auto& list) {
            const auto n = static_cast<index_t>(list.all.size());
            any_array keys(traits_.key, dims{n}), values(traits_.value, dims{n});
            if constexpr (std::is_same_v<std::remove_cvref_t<decltype(list)>, key_list<std::string>>)
                std::copy(list.all.begin(), list.all.end(), static_cast<std::string*>(keys.mutable_data()));
            else if (traits_.key == dtype::int32)
                std::transform(list.all.begin(), list.all.end(), static_cast<std::int32_t*>(keys.mutable_data()),
                               [](std::int64_t k) { return static_cast<std::int32_t>(k); });
            else
                std::copy(list.all.begin(), list.all.end(), static_cast<std::int64_t*>(keys.mutable_data()));
            copy_elements(traits_.value, values_.data(), values.mutable_data(), n);
            return std::pair(std::move(keys), std::move(values));
        },
        keys_);
}

RILL_COLD std::vector<named_array> table_state::saved_parts() const {
    if (traits_.from_file) return {};
    auto [keys, values] = entries();
    return {{"keys", std::move(keys)}, {"values", std::move(values)}};
}

RILL_COLD void table_state::check_parts(std::span<const named_array> parts) const {
    if (parts.size() != 2 || parts[0].value.shape() != parts[1].value.shape() || parts[0].value.shape().rank != 1)
        throw invalid_argument(named() + ": the saved state is of another table");
    check_type("keys", parts[0].value.dtype(), traits_.key);
    check_type("values", parts[1].value.dtype(), traits_.value);
    check_writable();
}

RILL_COLD void table_state::restore_parts(std::span<const named_array> parts) {
    check_parts(parts);
    const std::lock_guard lock(mutex_);
    std::visit([](auto& list) { list = {}; }, keys_);
    put(parts[0].value, parts[1].value);
}

RILL_COLD void table_state::fill_from(const std::string& path) {
    {
        const std::lock_guard lock(mutex_);
        if (ready_) return;
    }
    const std::string file = read_file(path, named());
    std::vector<std::string> words;
    std::unordered_map<std::string, std::size_t> lines;
    for (std::string_view left = file; !left.empty();) {
        const auto& word = words.emplace_back(take_line(left));
        const auto [first, fresh] = lines.try_emplace(word, words.size());
        if (!fresh)
            throw invalid_argument(named() + ": " + path + ":" + std::to_string(words.size()) + ": \"" + word +
                                   "\" is there already, in line " + std::to_string(first->second));
    }
    const dims shape{static_cast<index_t>(words.size())};
    any_array numbers(dtype::int64, shape), texts(dtype::string, shape);
    for (std::size_t i = 0; i < words.size(); ++i)
        static_cast<std::int64_t*>(numbers.mutable_data())[i] = static_cast<std::int64_t>(i);
    std::move(words.begin(), words.end(), static_cast<std::string*>(texts.mutable_data()));
    const std::lock_guard lock(mutex_);
    if (std::exchange(ready_, true)) return; // another thread has filled the table
    if (traits_.key == dtype::string)
        put(texts, numbers);
    else
        put(numbers, texts);
}

}}} // namespace rill::RILL_ABI::detail
#endif
