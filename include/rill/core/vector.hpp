// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A replacement for std::vector in the library's own lists, with the same member names. Iterators are pointers, and `resize`
/// allocates exactly what it needs. It compiles to a third of the functions per type. With some 70 element types, this saves a
/// tenth of a header-only program's compile time. Moving an element must not throw.
template <class T> class vector {
    static_assert(std::is_nothrow_move_constructible_v<T> && alignof(T) <= alignof(std::max_align_t));

public:
    using value_type = T;
    using iterator = T*;
    using const_iterator = const T*;

    vector() noexcept = default;
    explicit vector(std::size_t n) : vector() { resize(n); } // delegating: an exception runs the destructor
    vector(std::size_t n, const T& value) : vector() { resize(n, value); }
    vector(std::initializer_list<T> values) : vector() { append({values.begin(), values.size()}); }
    explicit vector(std::span<const T> values) : vector() { append(values); }
    vector(const vector& other) : vector() { append({other.begin_, other.size()}); }
    vector(vector&& other) noexcept { swap(other); }
    vector& operator=(vector other) noexcept {
        swap(other);
        return *this;
    }
    ~vector() {
        clear();
        ::operator delete(begin_);
    }
    void swap(vector& other) noexcept {
        std::swap(begin_, other.begin_);
        std::swap(end_, other.end_);
        std::swap(limit_, other.limit_);
    }

    T* data() noexcept { return begin_; }
    const T* data() const noexcept { return begin_; }
    T* begin() noexcept { return begin_; }
    T* end() noexcept { return end_; }
    const T* begin() const noexcept { return begin_; }
    const T* end() const noexcept { return end_; }
    std::size_t size() const noexcept { return static_cast<std::size_t>(end_ - begin_); }
    std::size_t capacity() const noexcept { return static_cast<std::size_t>(limit_ - begin_); }
    bool empty() const noexcept { return begin_ == end_; }
    T& operator[](std::size_t i) noexcept { return begin_[checked(i)]; }
    const T& operator[](std::size_t i) const noexcept { return begin_[checked(i)]; }
    T& front() noexcept { return (*this)[0]; }
    const T& front() const noexcept { return (*this)[0]; }
    T& back() noexcept { return (*this)[size() - 1]; }
    const T& back() const noexcept { return (*this)[size() - 1]; }

    void reserve(std::size_t n) {
        if (n > capacity()) move_to(n);
    }
    template <class... Values> T& emplace_back(Values&&... values) {
        if (end_ != limit_) {
            new (static_cast<void*>(end_)) T(std::forward<Values>(values)...);
        } else {
            T value(std::forward<Values>(values)...); // may be made of one of ours
            move_to(2 * size() + (sizeof(T) < 16 ? 8 : 2));
            new (static_cast<void*>(end_)) T(std::move(value));
        }
        return *end_++;
    }
    void push_back(const T& value) { emplace_back(value); }
    void push_back(T&& value) { emplace_back(std::move(value)); }
    void pop_back() noexcept { truncate(size() - 1); }
    void clear() noexcept { truncate(0); }
    void resize(std::size_t n) {
        if (n <= size()) return truncate(n);
        reserve(n);
        for (; end_ != begin_ + n; ++end_) new (static_cast<void*>(end_)) T();
    }
    void resize(std::size_t n, const T& value) {
        if (n <= size()) return truncate(n);
        const T copy = value; // may be one of ours
        reserve(n);
        for (; end_ != begin_ + n; ++end_) new (static_cast<void*>(end_)) T(copy);
    }
    void assign(std::size_t n, const T& value) { *this = vector(n, value); }
    /// Appends values, which must not lie in this vector.
    void append(std::span<const T> values) {
        const std::size_t n = size() + values.size();
        if (n > capacity()) move_to(std::max(n, 2 * size()));
        for (const T& value : values) {
            new (static_cast<void*>(end_)) T(value);
            ++end_;
        }
    }
    void insert(T* at, T value) {
        const auto place = at - begin_;
        emplace_back(std::move(value));
        for (T* i = end_ - 1; i != begin_ + place; --i) std::swap(*i, i[-1]);
    }
    /// Erases [first, last).
    void erase(T* first, T* last) noexcept {
        if (first == last) return;
        while (last != end_) *first++ = std::move(*last++);
        truncate(static_cast<std::size_t>(first - begin_));
    }
    template <class Predicate> friend void erase_if(vector& v, Predicate drop) {
        T* to = v.begin_;
        for (T* from = v.begin_; from != v.end_; ++from)
            if (!drop(std::as_const(*from))) {
                if (to != from) *to = std::move(*from);
                ++to;
            }
        v.truncate(static_cast<std::size_t>(to - v.begin_));
    }

    friend bool operator==(const vector& a, const vector& b) {
        if (a.size() != b.size()) return false;
        for (std::size_t i = 0; i < a.size(); ++i)
            if (!(a.begin_[i] == b.begin_[i])) return false;
        return true;
    }

private:
    std::size_t checked(std::size_t i) const noexcept {
#if defined(_GLIBCXX_ASSERTIONS) || defined(_LIBCPP_HARDENING_MODE)
        if (i >= size()) std::span<const T>(begin_, size())[i]; // terminates the program
#endif
        return i;
    }
    void truncate(std::size_t n) noexcept {
        if constexpr (std::is_trivially_destructible_v<T>)
            end_ = begin_ + n;
        else
            while (end_ != begin_ + n) (--end_)->~T();
    }
    RILL_NO_INLINE void move_to(std::size_t capacity) {
        T* const more = static_cast<T*>(::operator new(capacity * sizeof(T)));
        T* to = more;
        for (T* from = begin_; from != end_; ++from) {
            new (static_cast<void*>(to++)) T(std::move(*from));
            from->~T();
        }
        ::operator delete(begin_);
        begin_ = more;
        end_ = to;
        limit_ = more + capacity;
    }

    T* begin_ = nullptr;
    T* end_ = nullptr;
    T* limit_ = nullptr;
};

}}} // namespace rill::RILL_ABI::detail
