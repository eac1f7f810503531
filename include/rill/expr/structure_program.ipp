// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/structure_program.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/vector.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD const traced_structure& structure_tracing::traced(std::span<const structure_item> items,
                                                            const expansion* expansions, const std::string& (*key)()) {
    if (const auto* const known = made_.load(std::memory_order_acquire)) return *known;
    std::vector<dtype> leaves, scalars;
    for (const auto& item : items)
        if (item.is != structure_item::kind::op)
            (item.is == structure_item::kind::leaf ? leaves : scalars).push_back(item.type);
    const std::size_t own = scalars.size();
    vector<scalar_value> values(own);
    for (std::size_t i = 0; i < own; ++i) values[i].type = scalars[i];
    tracer t(std::move(leaves), std::move(values));
    t.fix_scalars(own);

    std::vector<int> done; // a stack: the operands of later ops
    int leaf = 0;
    std::size_t scalar = 0;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const auto& item = items[i];
        if (item.is == structure_item::kind::leaf) {
            done.push_back(t.leaf(leaf++));
        } else if (item.is == structure_item::kind::scalar) {
            done.push_back(t.scalar(scalar++));
        } else {
            const auto first = done.end() - item.arity;
            const int made =
                expansions[i] ? expansions[i](t, &*first) : t.emit(*item.op, item.type, {first, done.end()});
            done.erase(first, done.end());
            done.push_back(made);
        }
    }
    program p = *t.finish({done.back()});
    p.key = key(); // readable; compiled kernels are found by it
    std::unique_ptr<const traced_structure> made(new traced_structure{
        std::make_shared<const program>(std::move(p)), vector<scalar_value>(std::span(t.scalars()).subspan(own)), {}});
    const traced_structure* other = nullptr; // the result of a faster thread
    return made_.compare_exchange_strong(other, made.get(), std::memory_order_acq_rel) ? *made.release() : *other;
}

}}} // namespace rill::RILL_ABI::detail
