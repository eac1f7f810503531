// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/kernel_registry.hpp>

#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>

#include <rill/core/log.hpp>
#include <rill/core/op_traits.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

RILL_EXPORT RILL_COLD kernel_registry& kernel_tables() {
    static kernel_registry& instance = *new kernel_registry;
    return instance;
}

RILL_COLD std::string kernel_key(std::string_view op, dtype type) {
    return std::string(op) + "/" + std::string(to_string(type));
}

} // namespace detail

RILL_EXPORT RILL_COLD const kernel_registry& the_kernels() { return detail::kernel_tables(); }

RILL_EXPORT RILL_COLD bool load_rare_kernels() {
    static std::mutex& mutex = *new std::mutex;
    static bool loaded = false;
    const std::lock_guard lock(mutex);
    if (const auto compile = detail::kernel_tables().rare.exchange(nullptr)) {
        compile();
        loaded = true;
    }
    return loaded;
}

RILL_COLD std::string no_kernel_text(const std::string& what, const std::string& place) {
    return "no kernel of " + what + " is in this program" + (place.empty() ? "" : " (" + place + ")") +
           ": call the typed function somewhere, or include <rill/all_kernels.hpp>, for rare element types "
           "<rill/all_types.hpp>";
}

RILL_COLD std::optional<kernel_factory> find_kernel(std::string_view device, std::string_view op, dtype type) {
    const std::string key = std::string(device) + "/" + detail::kernel_key(op, type);
    const auto found = the_kernels().factories.find(key);
    bool usual = type == dtype::invalid; // rill::kernels always contains the kernels for these types
    types::moved::each([&]<class T>(std::type_identity<T>) { usual = usual || type == dtype_of<T>; });
    if (found || usual || !load_rare_kernels()) return found;
    return the_kernels().factories.find(key);
}

RILL_COLD bool supports_level(int level) {
#if (defined(__x86_64__) || defined(_M_X64)) && defined(__GNUC__)
    // These features match the compile flags of the level objects in rill::kernels (CMakeLists.txt).
    if (level >= 4 && !(__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                        __builtin_cpu_supports("avx512cd")))
        return false;
    if (level >= 3 && !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")))
        return false;
    return level < 2 || (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt"));
#else
    return level >= 0;
#endif
}

RILL_COLD int best_level() {
    const char* const asked = std::getenv("RILL_LEVEL");
    const bool known = asked && asked[0] >= '1' && asked[0] <= '4' && asked[1] == '\0';
    if (asked && asked[0] != '\0' && !known)
        log_message(log_level::warning, std::string("RILL_LEVEL is 1, 2, 3 or 4, not '") + asked + "'");
    int level = known ? asked[0] - '0' : 4;
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
    kernel_tables().blocks.change(key, [&](block_kernels& known) {
        if (!known.forward || known.level <= level) {
            known.forward = kernels.forward;
            known.level = level;
            known.lanes = kernels.lanes;
        }
        if (kernels.adjoint && (!known.adjoint || known.adjoint_level <= level)) {
            known.adjoint = kernels.adjoint;
            known.adjoint_of_one = kernels.adjoint_of_one;
            known.by_result = kernels.by_result;
            known.leaves = kernels.leaves;
            known.by_result_leaves = kernels.by_result_leaves;
            known.adjoint_level = level;
            known.adjoint_lanes = kernels.adjoint_lanes;
        }
    });
}

RILL_COLD void register_primitive_blocks(const std::string& key, int level, block_function forward, int lanes) {
    block_kernels k;
    k.forward = forward;
    k.lanes = lanes;
    register_blocks(key, level, k);
}

RILL_COLD void register_reducer(std::string_view how, dtype type, int level, const reducer& loops) {
    if (supports_level(level)) kernel_tables().reducers.add(kernel_key(how, type), level, loops);
}

RILL_COLD void register_compiled_loop(const std::string& key, int level, compiled_loop loop) {
    if (supports_level(level)) kernel_tables().loops.add(key, level, loop);
}

RILL_EXPORT RILL_COLD void register_emitter(const code_emitter* emit) { kernel_tables().emit = emit; }

RILL_EXPORT RILL_COLD void register_rare_kernels(void (*compile)()) { kernel_tables().rare = compile; }

RILL_COLD void register_pullback(const std::string& key, const pullback_rule& rule) {
    if (!kernel_tables().pullbacks.find(key)) kernel_tables().pullbacks.add(key, 0, rule);
}

} // namespace detail

}} // namespace rill::RILL_ABI
