// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <source_location>
#include <string>
#include <utility>

#include <rill/graph/scope.hpp>

namespace rill { inline namespace RILL_ABI {

/// A handle, constant or expression with static types.
template <class X>
concept typed_operand = requires {
    typename std::remove_cvref_t<X>::operand_type;
    typename std::remove_cvref_t<X>::extents_type;
};

/// An expression or a constant: it has static types, but is not an edge of a graph yet.
template <class X>
concept unsealed_operand = typed_operand<X> && !requires(const X& x) { x.end(); };

// Bases of all types that represent a tensor. Argument-dependent lookup finds the refused operators of expr/deleted_operators.hpp through
// them; other comparisons do not see those operators. There are two bases, so that a class with both stays small.
namespace detail::refused {
struct handle_base {};
struct typed_base {};
} // namespace detail::refused

/// A tensor of a graph whose element type and shape are known at run time only. It is null until assigned. Functions that accept a typed
/// tensor accept it too, with checks at run time.
class any_tensor : detail::refused::handle_base {
public:
    any_tensor() = default;
    any_tensor(const endpoint& e) noexcept : end_(e) { retain(); }
    /// Seals an expression or a constant in its own graph, shared with equal ones. Defined in expr/tensor.hpp.
    template <unsealed_operand E>
    any_tensor(const E& e, const std::source_location& where = std::source_location::current());
    any_tensor(const any_tensor& other) noexcept : end_(other.end_) { retain(); }
    any_tensor(any_tensor&& other) noexcept : end_(std::exchange(other.end_, {})) {}
    any_tensor& operator=(any_tensor other) noexcept;
    ~any_tensor();

    const endpoint& end() const noexcept { return end_; }
    operator endpoint() const noexcept { return end_; }
    explicit operator bool() const noexcept { return bool(end_); }
    const rill::node* node() const noexcept { return end_.from; }
    rill::graph graph() const { return rill::graph(*checked().from->owner); }

    /// Returns the name of the edge: "layer1/add:0".
    std::string name() const;
    rill::dtype dtype() const { return type_of(checked()).type; }
    /// Returns the shape as far as it is known when the graph is built.
    const dims& static_shape() const { return type_of(checked()).shape; }
    /// Returns the device that the node requests; may be empty.
    const std::string& device() const { return checked().from->device; }

    /// Returns a row, an element or a block: x(1), x(-1, slice_range{2, 5}). Defined in ops/array/subscript.hpp.
    template <class... I>
        requires(sizeof...(I) > 0)
    auto operator()(const I&... at) const;

private:
    const endpoint& checked() const;
    void retain() const noexcept;

    endpoint end_;
};

/// A node that runs for its effect: an assign, a training step, an initializer.
class operation {
public:
    operation() = default;
    explicit operation(const rill::node* n) : handle_(endpoint{n, 0}) {}
    /// Takes the node of a tensor: std::vector<operation>{w.assign(x), enqueue}. A null handle makes a null operation.
    template <std::derived_from<any_tensor> H> operation(const H& h) : operation(h.node()) {}

    const rill::node* node() const noexcept { return handle_.node(); }
    rill::graph graph() const { return handle_.graph(); }
    const std::string& name() const;
    explicit operator bool() const noexcept { return bool(handle_); }

    /// Runs the node in the default session (see session_scope): op.run(feed(x, value)).
    void run() const;
    template <class... Feeds>
        requires(sizeof...(Feeds) > 0)
    void run(Feeds&&... feeds) const;

private:
    any_tensor handle_;
};

namespace detail {
/// A tag of constructors that trust their caller and check nothing.
struct unchecked_t {};
inline constexpr unchecked_t unchecked{};
} // namespace detail

/// The base of everything with a static element type and static extents: handles, constants and expressions.
template <class T, index_t... D> struct operand : private detail::refused::typed_base {
    using operand_type = operand;
    using value_type = T;
    using extents_type = extents<D...>;
};

template <class X> using value_type_of = typename std::remove_cvref_t<X>::value_type;

template <class X> struct extents_of_operand {
    using type = extents<>;
};
template <typed_operand X> struct extents_of_operand<X> {
    using type = typename std::remove_cvref_t<X>::extents_type;
};
/// The static extents of an operand; `extents<>` for a number.
template <class X> using extents_of = typename extents_of_operand<X>::type;

/// The static element type and shape of an operand, as a value.
template <typed_operand X> inline constexpr tensor_type static_type{dtype_of<value_type_of<X>>, extents_of<X>::value};

namespace detail {

std::string text_of(const any_tensor& t);
std::string text_of(const operation& o);

} // namespace detail

/// Prints name, dtype and shape: tensor("layer1/add:0", float32, [?, 10]).
template <class Stream>
    requires requires(Stream& s) { s << std::string(); }
Stream& operator<<(Stream& out, const any_tensor& t) {
    out << detail::text_of(t);
    return out;
}
template <class Stream>
    requires requires(Stream& s) { s << std::string(); }
Stream& operator<<(Stream& out, const operation& o) {
    out << detail::text_of(o);
    return out;
}

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/expr/handle.ipp>
#endif
