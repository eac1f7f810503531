// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tuple>
#include <utility>
#include <vector>

#include <rill/core/hash_map.hpp>
#include <rill/core/vector.hpp>
#include <rill/device/kernel_registry.hpp>
#include <rill/device/lane.hpp>

namespace rill { inline namespace RILL_ABI {

/// A builder of programs, instruction by instruction. Equal instructions become one.
class tracer {
public:
    tracer(std::vector<dtype> leaves, detail::vector<scalar_value> scalars);
    ~tracer();

    // The upper bits of a value number hold its kind until `finish`: the number of values of each kind still grows.
    static constexpr int scalar_base = 1 << 20, code_base = 1 << 21;

    int leaf(int i) const { return i; }
    int scalar(std::size_t i) const { return scalar_base + static_cast<int>(i); }

    int constant(const scalar_value& value);
    /// Marks the first n scalars as the node's own. Constants are never merged with them, whatever their value.
    void fix_scalars(std::size_t n) { fixed_scalars_ = n; }

    int emit(const elementwise_info& op, dtype type, std::vector<int> args);
    /// Emits a program whose leaves and scalars are the first ones of this tracer. Returns its values, by their numbers in the program.
    std::vector<int> append(const program& p);
    /// Emits an op whose result has the type of its last operand.
    template <class Op> int emit(std::vector<int> args) {
        const dtype type = type_of(args.back());
        return emit(info_of<Op>, type, std::move(args));
    }

    dtype type_of(int value) const;

    /// Returns the finished program, with its spelled-out key.
    program_ptr finish(const std::vector<int>& results) const;
    /// Returns the finished program of one result. A program of one op over its leaves gets the op's key.
    program_ptr finish_op(int result) const;
    const detail::vector<scalar_value>& scalars() const { return scalars_; }

private:
    std::vector<dtype> leaves_;
    detail::vector<scalar_value> scalars_;
    std::size_t fixed_scalars_ = 0;
    detail::vector<program::instruction> code_;
    detail::hash_map<std::tuple<const elementwise_info*, dtype, std::vector<int>>, int> seen_;
};

/// A value of a program under construction. Value functions and pullbacks run on symbols as on numbers and registers. Literals stay
/// literals until they meet a traced value. A literal type, with constexpr functions: nvcc lets functions of a GPU name no others.
template <class T> class symbol {
public:
    using value_type = T;
    static constexpr bool is_symbol = true;

    constexpr symbol(tracer& t, int id) : tracer_(&t), id_(id) {}
    template <class A>
        requires std::is_arithmetic_v<A>
    constexpr symbol(A literal) : literal_(detail::convert<T>(literal)) {}

    bool is_literal() const { return tracer_ == nullptr; }
    tracer* where() const { return tracer_; }
    T literal() const { return literal_.as<T>(); }
    int id(tracer& t) const { return is_literal() ? t.constant(literal_) : id_; }

    /// Records an op over traced values as one instruction.
    template <class Op, class... V> static constexpr auto traced(const V&... args);

private:
    tracer* tracer_ = nullptr;
    int id_ = -1;
    scalar_value literal_; // not a T: g++ notes an ABI change for structs of one complex number
};

template <class X>
concept symbolic = requires { std::remove_cvref_t<X>::is_symbol; };

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/expr/tracer.ipp>
#endif
