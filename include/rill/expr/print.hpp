// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/expression.hpp>

namespace rill { inline namespace RILL_ABI {

// What is not an edge of a graph yet prints what its type knows. Each operator names the class template it is for, so that
// other uses of << are done with it at once.

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
