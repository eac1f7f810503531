// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/expression.hpp>

namespace rill { inline namespace RILL_ABI {

// Operands that are not edges of a graph yet print what their type knows. Each operator names its class template, so that the compiler
// discards it at once for other uses of <<.

/// Prints structure and shape: expression(Mul($0:float32,$1:float32), [?, 3]).
template <class Stream, class Op, class... Args>
    requires requires(Stream& s) { s << std::string(); }
Stream& operator<<(Stream& out, const expression<Op, Args...>&) {
    using E = expression<Op, Args...>;
    out << "expression(" + key_of<typename detail::strip<E>::type>() + ", " + to_string(extents_of<E>::value) + ")";
    return out;
}

/// Prints dtype and shape: constant(float32, [2, 2]).
template <class Stream, class T, index_t... D>
    requires requires(Stream& s) { s << std::string(); }
Stream& operator<<(Stream& out, const constant_value<T, D...>& c) {
    out << "constant(" + std::string(to_string(dtype_of<T>)) + ", " + to_string(c.value().shape()) + ")";
    return out;
}

}} // namespace rill::RILL_ABI
