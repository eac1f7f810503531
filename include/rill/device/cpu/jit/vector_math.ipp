// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/cpu/jit/vector_math.hpp>

#include <mutex>
#include <shared_mutex>
#include <string>

#include <rill/core/hash_map.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

struct vector_op_table {
    std::shared_mutex mutex;
    hash_map<std::string, vector_emitter> all;
};
inline vector_op_table& vector_ops() {
    static vector_op_table& instance = *new vector_op_table;
    return instance;
}

RILL_COLD void register_vector_op(const std::string& key, vector_emitter emit) {
    const std::unique_lock lock(vector_ops().mutex);
    vector_ops().all[key] = emit;
}

RILL_COLD vector_emitter find_vector_op(const std::string& key) {
    const std::shared_lock lock(vector_ops().mutex);
    const auto found = vector_ops().all.find(key);
    return found == vector_ops().all.end() ? nullptr : found->second;
}

}}} // namespace rill::RILL_ABI::detail
