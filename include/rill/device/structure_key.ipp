// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/structure_key.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD std::string structure_key(std::span<const structure_item> items) {
    std::vector<std::string> done; // a stack: operands of the ops that follow
    int leaf = 0, scalar = 0;
    for (const auto& item : items) {
        std::string text;
        if (item.is != structure_item::kind::op) {
            text =
                item.is == structure_item::kind::leaf ? "$" + std::to_string(leaf++) : "s" + std::to_string(scalar++);
            text.append(":").append(to_string(item.type));
        } else {
            text = item.op->name;
            if (item.parameter) text.append("[").append(item.parameter()).append("]");
            const std::size_t first = done.size() - static_cast<std::size_t>(item.arity);
            for (std::size_t i = first; i < done.size(); ++i) text.append(i == first ? "(" : ",").append(done[i]);
            text.append(")").append(result_suffix(item.type, item.first));
            done.resize(first);
        }
        done.push_back(std::move(text));
    }
    return done.back();
}

RILL_COLD const std::string& structure_name::key(std::span<const structure_item> items) {
    if (const auto* const known = key_.load(std::memory_order_acquire)) return *known;
    auto made = std::make_unique<const std::string>(structure_key(items));
    const std::string* other = nullptr; // set if another thread stored the key first
    return key_.compare_exchange_strong(other, made.get(), std::memory_order_acq_rel) ? *made.release() : *other;
}

}}} // namespace rill::RILL_ABI::detail
