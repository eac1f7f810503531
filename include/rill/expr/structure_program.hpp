// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

#include <rill/core/vector.hpp>
#include <rill/expr/elementwise.hpp>
#include <rill/expr/fused_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// The program of a structure, and the constants it needs beside the expression's own scalars.
struct traced_structure {
    program_ptr body;
    detail::vector<scalar_value> constants;
    detail::last_fused_op op = {};
};

namespace detail {

/// A function that traces an op without a pullback through its value function.
using expansion = int (*)(tracer& t, const int* args);

template <class Op, class... T> int expand(tracer& t, const int* args) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return Op::value(symbol<T>(t, args[I])...).id(t);
    }(std::index_sequence_for<T...>{});
}

/// The expansions of a structure's items; null for leaves, scalars and ops with a pullback.
template <class S> struct expansion_list {
    static constexpr void fill(expansion*& to) { *to++ = nullptr; }
};
template <class Op, class R, class... Args> struct expansion_list<structure<Op, R, Args...>> {
    static constexpr void fill(expansion*& to) {
        (expansion_list<Args>::fill(to), ...);
        if constexpr (has_pullback<Op>)
            *to++ = nullptr;
        else
            *to++ = &expand<Op, typename Args::value_type...>;
    }
};
template <class S> struct expansion_data {
    static constexpr auto all = [] {
        std::array<expansion, structure_list<S>::count> all;
        expansion* to = all.data();
        expansion_list<S>::fill(to);
        return all;
    }();
};

/// The program of a structure, traced on first use and kept forever. Structures thus need neither a static's guard nor a destructor.
class structure_tracing {
public:
    const traced_structure& traced(std::span<const structure_item> items, const expansion* expansions,
                                   const std::string& (*key)());

private:
    std::atomic<const traced_structure*> made_{nullptr};
};

} // namespace detail

/// Returns the program of a structure. Traces it on first use.
template <class S> const traced_structure& program_of() {
    static constinit detail::structure_tracing tracing;
    return tracing.traced(detail::structure_data<S>::items, detail::expansion_data<S>::all.data(), &key_of<S>);
}

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/expr/structure_program.ipp>
#endif
