// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI {

/// A vector of trivially copyable values that stores the first N inline. Graphs consist of many short lists, and memory
/// dominates their cost.
template <class T, std::uint32_t N> class small_vector {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= alignof(std::max_align_t) && N > 0);

public:
    using value_type = T;
    using iterator = T*;
    using const_iterator = const T*;

    small_vector() noexcept {} // leaves the inline storage uninitialised
    small_vector(std::initializer_list<T> values) { append({values.begin(), values.size()}); }
    small_vector(std::span<const T> values) { append(values); }
    small_vector(const std::vector<T>& values) { append(values); }
    small_vector(const small_vector& other) { append(other); }
    small_vector(small_vector&& other) noexcept { take(other); }
    small_vector& operator=(const small_vector& other) {
        if (this != &other) {
            clear();
            append(other);
        }
        return *this;
    }
    small_vector& operator=(small_vector&& other) noexcept {
        if (this != &other) {
            release();
            take(other);
        }
        return *this;
    }
    ~small_vector() { release(); }

    T* data() noexcept { return capacity_ > N ? place_.heap : reinterpret_cast<T*>(place_.own); }
    const T* data() const noexcept { return capacity_ > N ? place_.heap : reinterpret_cast<const T*>(place_.own); }
    std::size_t size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }

    operator std::vector<T>() const { return {begin(), end()}; }

    T* begin() noexcept { return data(); }
    T* end() noexcept { return data() + size_; }
    const T* begin() const noexcept { return data(); }
    const T* end() const noexcept { return data() + size_; }
    T& operator[](std::size_t i) noexcept { return data()[i]; }
    const T& operator[](std::size_t i) const noexcept { return data()[i]; }
    T& back() noexcept { return data()[size_ - 1]; }
    const T& back() const noexcept { return data()[size_ - 1]; }

    void push_back(const T& value) {
        const T copy = value; // may be one of ours
        if (size_ == capacity_) grow(size_ + 1);
        new (data() + size_++) T(copy);
    }
    /// Appends values, which must not lie in this vector.
    void append(std::span<const T> values) {
        if (size_ + values.size() > capacity_) grow(size_ + values.size());
        std::uninitialized_copy_n(values.data(), values.size(), end());
        size_ += static_cast<std::uint32_t>(values.size());
    }
    void resize(std::size_t n, const T& value = T()) {
        const T copy = value;
        if (n > capacity_) grow(n);
        if (n > size_) std::uninitialized_fill_n(end(), n - size_, copy);
        size_ = static_cast<std::uint32_t>(n);
    }
    void clear() noexcept { size_ = 0; }

    friend bool operator==(const small_vector& a, const small_vector& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }

private:
    void grow(std::size_t least) {
        const std::size_t capacity = std::max<std::size_t>(least, std::size_t(2) * capacity_);
        T* const more = static_cast<T*>(::operator new(capacity * sizeof(T)));
        std::uninitialized_copy_n(data(), size_, more);
        release();
        place_.heap = more;
        capacity_ = static_cast<std::uint32_t>(capacity);
    }
    void release() noexcept {
        if (capacity_ > N) ::operator delete(place_.heap);
    }
    void take(small_vector& other) noexcept {
        size_ = std::exchange(other.size_, 0);
        capacity_ = std::exchange(other.capacity_, N);
        if (capacity_ > N)
            place_.heap = other.place_.heap;
        else
            std::uninitialized_copy_n(reinterpret_cast<const T*>(other.place_.own), size_,
                                      reinterpret_cast<T*>(place_.own));
    }

    std::uint32_t size_ = 0, capacity_ = N;
    union place {
        place() noexcept {}
        T* heap;
        alignas(T) std::byte own[N * sizeof(T)];
    } place_;
};

}} // namespace rill::RILL_ABI
