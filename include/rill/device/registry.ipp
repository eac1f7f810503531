// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/registry.hpp>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

namespace rill { inline namespace RILL_ABI {

namespace detail {

RILL_EXPORT RILL_COLD kernel_registry& kernel_tables() {
    static kernel_registry& instance = *new kernel_registry;
    return instance;
}

#if RILL_COMPILED
bool register_catalogue(); // <rill/all_kernels.hpp>, compiled into rill::kernels
#endif

RILL_COLD std::string kernel_key(std::string_view op, dtype type) {
    return std::string(op) + "/" + std::string(to_string(type));
}

} // namespace detail

RILL_EXPORT RILL_COLD const kernel_registry& the_kernels() {
#if RILL_COMPILED
    static const bool all_there = detail::register_catalogue();
    (void)all_there;
#endif
    return detail::kernel_tables();
}

RILL_COLD std::optional<kernel_factory> find_kernel(std::string_view device, std::string_view op, dtype type) {
    return the_kernels().factories.find(std::string(device) + "/" + detail::kernel_key(op, type));
}

RILL_COLD bool supports_level(int level) {
#if (defined(__x86_64__) || defined(_M_X64)) && defined(__GNUC__)
    switch (level) {
    case 4:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    case 3: return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case 2: return __builtin_cpu_supports("sse4.2");
    default: return true;
    }
#else
    return level >= 0;
#endif
}

RILL_COLD int best_level() {
    const char* const asked = std::getenv("RILL_LEVEL");
    int level = asked ? std::clamp(std::atoi(asked), 0, 4) : 4;
    while (level > 0 && !supports_level(level)) --level;
    return level;
}

namespace detail {

RILL_COLD void register_factory(std::string_view device, std::string_view op, dtype type, int level,
                                kernel_factory make) {
    if (supports_level(level))
        kernel_tables().factories.add(std::string(device) + "/" + kernel_key(op, type), level, make);
}

RILL_COLD void register_blocks(const std::string& key, int level, const block_kernels& kernels) {
    if (!supports_level(level)) return;
    auto levelled = kernels;
    levelled.level = level;
    kernel_tables().blocks.add(key, level, levelled);
}

RILL_COLD void register_primitive_blocks(const std::string& key, int level, block_function forward) {
    if (!supports_level(level)) return;
    if (const auto known = kernel_tables().blocks.find(key); !known || known->level < level)
        kernel_tables().blocks.add(key, level, {forward, nullptr, nullptr, level});
}

RILL_COLD void register_combiner(std::string_view how, dtype type, int level, const combiner& loops) {
    if (supports_level(level)) kernel_tables().combiners.add(kernel_key(how, type), level, loops);
}

RILL_COLD void register_pullback(const std::string& key, pullback_trace trace) {
    if (!kernel_tables().pullbacks.find(key)) kernel_tables().pullbacks.add(key, 0, trace);
}

} // namespace detail

}} // namespace rill::RILL_ABI
