// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>

#include <rill/core/allocator.hpp>
#include <rill/core/dims.hpp>
#include <rill/core/error.hpp>
#include <rill/core/memory_space.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// A block of elements of one dtype. Numbers are left uninitialised; strings are constructed and destroyed.
class element_block {
public:
    element_block(allocator& from, dtype type, index_t count)
        : memory_(from, static_cast<std::size_t>(count) * size_of(type)), strings_(type == dtype::string ? count : 0) {
        std::uninitialized_default_construct_n(static_cast<std::string*>(memory_.data()), strings_);
    }
    element_block(element_block&& other) noexcept
        : memory_(std::move(other.memory_)), strings_(std::exchange(other.strings_, 0)) {}
    element_block& operator=(element_block&& other) noexcept {
        std::swap(memory_, other.memory_);
        std::swap(strings_, other.strings_);
        return *this;
    }
    ~element_block() { std::destroy_n(static_cast<std::string*>(memory_.data()), strings_); }

    void* data() const noexcept { return memory_.data(); }
    const allocator* from() const noexcept { return memory_.from(); }

private:
    memory_block memory_;
    index_t strings_;
};

} // namespace detail

/// A dense row-major value whose dtype and shape are known at run time. A fetch by name returns one. Copies share the elements, which
/// stay unchanged once shared. The values that a session returns lie in host memory.
class any_array {
public:
    any_array() = default;

    /// Makes an array of uninitialised numbers or empty strings. Throws invalid_argument if an extent is unknown, resource_exhausted
    /// if the size exceeds the memory.
    any_array(rill::dtype type, const dims& shape, allocator& from = default_allocator());

    /// Makes an array of uninitialised numbers in another memory than the host's. Throws as above.
    any_array(rill::dtype type, const dims& shape, const memory_space& space);

    /// Wraps external memory, kept alive by `owner` (null: borrowed). `space` is null for host memory.
    any_array(rill::dtype type, const dims& shape, const void* data, std::shared_ptr<const void> owner,
              const memory_space* space = nullptr)
        : type_{type, shape}, block_(), owner_(std::move(owner)), data_(const_cast<void*>(data)), space_(space) {}

    rill::dtype dtype() const noexcept { return type_.type; }
    const dims& shape() const noexcept { return type_.shape; }
    const tensor_type& type() const noexcept { return type_; }
    index_t size() const noexcept { return type_.shape.size(); }
    bool empty() const noexcept { return type_.type == rill::dtype::invalid; }

    /// Returns true if the array owns its elements and shares them with no other array.
    bool is_sole() const noexcept { return block_ && block_.use_count() == 1; }
    /// Returns true if the elements are in external memory that nothing keeps alive.
    bool is_borrowed() const noexcept { return !block_ && !owner_ && data_; }
    /// Returns the allocator of the elements; null for external memory.
    const allocator* memory() const noexcept { return block_ ? block_->from() : nullptr; }

    /// Returns the memory space of the elements; null for host memory.
    const memory_space* space() const noexcept { return space_; }

    /// Returns the address of the elements. The host must not dereference it if the elements lie in a space.
    const void* data() const noexcept { return data_; }
    void* mutable_data() noexcept { return data_; }

    /// Returns the elements in row-major order. Throws invalid_argument if T is another type, failed_precondition if they lie in a
    /// space.
    template <element T> std::span<const T> elements() const {
        if (type_.type != dtype_of<T>) refuse(dtype_of<T>);
        if (space_) refuse_space();
        return {static_cast<const T*>(data_), static_cast<std::size_t>(size())};
    }
    /// Returns the value of an array with one element, normally of rank 0.
    template <element T> T value() const {
        const auto all = elements<T>();
        if (all.size() != 1) refuse_many();
        return all[0];
    }

private:
    /// Returns the number of elements to allocate.
    index_t count() const;
    [[noreturn]] void refuse(rill::dtype asked) const;
    [[noreturn]] void refuse_many() const;
    [[noreturn]] void refuse_space() const;

    tensor_type type_;
    std::shared_ptr<detail::element_block> block_;
    std::shared_ptr<const void> owner_;
    void* data_ = nullptr;
    const memory_space* space_ = nullptr;
};

namespace detail {

/// Returns a copy of the elements in a space, or in host memory (null). An array that does not own its elements is shared.
any_array copied_to(const any_array& a, const memory_space* space);

/// Returns an array that owns its elements. They stay in the memory where they lie.
inline any_array kept_copy(const any_array& a) { return copied_to(a, a.space()); }
/// Returns an array in host memory that owns its elements, for callers that keep a borrowed array.
any_array owned_copy(const any_array& a);
any_array owned_copy(dtype type, const dims& shape, const void* data);

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/core/any_array.ipp>
#endif
