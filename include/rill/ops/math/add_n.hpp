// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/hash_map.hpp>
#include <rill/expr/node_op.hpp>
#include <rill/ops/math/add.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Returns the sum of tensors of one dtype, in one pass over all of them.
endpoint add_n(const std::vector<endpoint>& terms, const std::source_location& where = {});

/// Does the same for tensors whose dtypes may differ. Throws invalid_argument if they do.
endpoint add_list(const endpoint_list& terms, const std::source_location& where);

} // namespace detail

/// Returns the sum of tensors of one dtype, in one pass: add_n({a, b, c}), add_n(terms). Shape: all broadcast.
template <tensor_list L = std::vector<any_tensor>>
auto add_n(const L& terms, const std::source_location& where = std::source_location::current()) {
    using X = typename L::value_type;
    if constexpr (typed_operand<X>)
        detail::require_uniform<add_op, value_type_of<X>>(std::make_index_sequence<2>{});
    else
        detail::require_for_untyped<add_op, 2>();
    const auto edges = detail::sealed_list("add_n", terms, where);
    return detail::typed_result<void, X>(detail::shape_of_first, any_tensor(detail::add_list(edges, where)));
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns the program that adds `count` leaves. It is traced once per dtype and count.
RILL_INLINE program_ptr sum_of_leaves(dtype type, std::size_t count) {
    static auto& memory = *new std::pair<std::mutex, hash_map<std::pair<dtype, std::size_t>, program_ptr>>;
    const std::lock_guard lock(memory.first);
    auto& known = memory.second[{type, count}];
    if (known) return known;
    tracer t(std::vector<dtype>(count, type), {});
    int sum = t.leaf(0);
    for (std::size_t i = 1; i < count; ++i) sum = t.emit<add_op>({sum, t.leaf(static_cast<int>(i))});
    return known = t.finish({sum});
}

RILL_INLINE endpoint add_list(const endpoint_list& terms, const std::source_location& where) {
    const tensor_type& first = type_of(terms[0]);
    for (const auto& t : terms)
        if (type_of(t).type != first.type)
            throw invalid_argument("add_n: the dtypes differ: '" + name_of(terms[0]) + "' is " +
                                   std::string(to_string(first.type)) + ", '" + name_of(t) + "' " +
                                   std::string(to_string(type_of(t).type)) + at_place(where));
    return add_n({terms.begin(), terms.end()}, where);
}

RILL_INLINE endpoint add_n(const std::vector<endpoint>& terms, const std::source_location& where) {
    const dtype type = type_of(terms[0]).type;
    // a fused node has a limit of operands, so larger fan-outs are added in rounds
    constexpr std::size_t most = 24;
    if (terms.size() > most) {
        std::vector<endpoint> sums;
        for (std::size_t i = 0; i < terms.size(); i += most)
            sums.push_back(add_n({terms.begin() + static_cast<std::ptrdiff_t>(i),
                                  terms.begin() + static_cast<std::ptrdiff_t>(std::min(i + most, terms.size()))},
                                 where));
        return add_n(sums, where);
    }
    if (terms.size() == 1) return terms[0];
    return add_program(graph(*terms[0].from->owner), sum_of_leaves(type, terms.size()), {}, terms, "add_n", where);
}

}}} // namespace rill::RILL_ABI::detail
#endif
