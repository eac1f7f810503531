// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/elementwise.hpp>

namespace rill::inline RILL_ABI {

namespace detail {

/// Traces a structure: leaves and scalars are numbered in order of occurrence.
template <class S> struct structure_trace;
template <class T> struct structure_trace<leaf<T>> {
    static int build(tracer& t, int& leaf, int&) { return t.leaf(leaf++); }
    static void list(std::vector<dtype>& leaves, std::vector<scalar_value>&) { leaves.push_back(dtype_of<T>); }
};
template <class T> struct structure_trace<scalar_leaf<T>> {
    static int build(tracer& t, int&, int& scalar) { return t.scalar(static_cast<std::size_t>(scalar++)); }
    static void list(std::vector<dtype>&, std::vector<scalar_value>& scalars) { scalars.emplace_back(T{}); }
};
template <class Op, class R, class... Args> struct structure_trace<structure<Op, R, Args...>> {
    static int build(tracer& t, int& leaf, int& scalar) {
        const int args[] = {structure_trace<Args>::build(t, leaf, scalar)...}; // braces: in order
        if constexpr (has_pullback<Op>) return t.emit(Op::name, dtype_of<R>, {std::begin(args), std::end(args)});
        else return expand(t, args, std::index_sequence_for<Args...>{});
    }
    static void list(std::vector<dtype>& leaves, std::vector<scalar_value>& scalars) {
        (structure_trace<Args>::list(leaves, scalars), ...);
    }

private:
    template <std::size_t... I> static int expand(tracer& t, const int* args, std::index_sequence<I...>) {
        return Op::value(symbol<typename Args::value_type>(t, args[I])...).id(t);
    }
};

} // namespace detail

/// The program that a structure stands for, and the constants it needs beside the expression's own scalars.
struct traced_structure {
    program_ptr body;
    std::vector<scalar_value> constants;
};

/// Traced once per structure, on first use.
template <class S> const traced_structure& program_of() {
    static const traced_structure made = [] {
        std::vector<dtype> leaves;
        std::vector<scalar_value> scalars;
        detail::structure_trace<S>::list(leaves, scalars);
        const std::size_t own = scalars.size();
        tracer t(std::move(leaves), std::move(scalars));
        t.fix_scalars(own);
        int leaf = 0, scalar = 0;
        const int root = detail::structure_trace<S>::build(t, leaf, scalar);
        program p = *t.finish({root});
        p.key = key_of<S>(); // readable, and what compiled kernels are found by
        return traced_structure{std::make_shared<const program>(std::move(p)),
                                {t.scalars().begin() + static_cast<std::ptrdiff_t>(own), t.scalars().end()}};
    }();
    return made;
}

} // namespace rill::inline RILL_ABI
