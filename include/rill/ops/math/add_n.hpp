// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/hash_map.hpp>
#include <rill/ops/math/add.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// The sum of tensors of one type: one pass over all of them.
endpoint add_n(const std::vector<endpoint>& terms, const std::source_location& where = {});

} // namespace detail

/// add_n({a, b, c}): the sum of tensors of one dtype, in one pass. Shape: all broadcast.
template <class... Unused> // a template, so that only programs that call it have its kernels
any_tensor add_n(const std::vector<any_tensor>& terms,
                 const std::source_location& where = std::source_location::current()) {
    if (terms.empty()) throw invalid_argument("add_n: no tensors were given" + detail::at_place(where));
    detail::require_for_untyped<add_op, 2>();
    std::vector<endpoint> all;
    for (const auto& t : terms) {
        if (!t) detail::refuse_null("add_n", where);
        if (t.dtype() != terms[0].dtype())
            throw invalid_argument("add_n: the dtypes differ: '" + terms[0].name() + "' is " +
                                   std::string(to_string(terms[0].dtype())) + ", '" + t.name() + "' " +
                                   std::string(to_string(t.dtype())) + detail::at_place(where));
        all.push_back(t.end());
    }
    return detail::add_n(all, where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Traced once: there are few.
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

RILL_INLINE endpoint add_n(const std::vector<endpoint>& terms, const std::source_location& where) {
    const dtype type = type_of(terms[0]).type;
    // a fan-out wider than a fused node takes is added in rounds
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
