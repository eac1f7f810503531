// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>

#include <rill/core/hash_map.hpp>
#include <rill/device/block.hpp>
#include <rill/device/kernel.hpp>
#include <rill/device/scalar_loop.hpp>

namespace rill { inline namespace RILL_ABI {

/// A factory of kernels: binds an op to shapes. `op` points to the op's struct of attributes.
using kernel_factory = kernel (*)(const void* op, kernel_request& request);

/// The compiled block functions of one expression structure.
struct block_kernels {
    block_function forward = nullptr;
    block_function adjoint = nullptr;        // masks identify occurrences of the same leaf
    block_function adjoint_of_one = nullptr; // for expressions whose tensor leaves are all the same handle
    block_function by_result = nullptr;      // an adjoint that reads no operand: only the gradient, perhaps the result
    int leaves = 0;                          // leaf occurrences of the expression
    int by_result_leaves = 0;                // leaves that by_result reads
    int level = 0;                           // instruction-set level that forward was compiled for
    int adjoint_level = 0;
    int lanes = 1; // elements per iteration of forward; it pads a shorter tail to this many
    int adjoint_lanes = 1;
};

/// The loops of a reduction, for one combining operation and one dtype. If `widen` is set, they accumulate in a wider type, whose
/// elements have `wide` bytes.
struct reducer {
    void (*init)(void* to, std::int64_t n) = nullptr;                                           // writes the identity
    void (*merge)(void* to, const void* from, std::int64_t n) = nullptr;                        // elementwise
    void (*fold)(void* to, const void* from, std::int64_t n) = nullptr;                         // n elements into one
    void (*fold_rows)(void* to, const void* from, std::int64_t rows, std::int64_t n) = nullptr; // rows of n into one
    /// Turns sums into means, as elements of the dtype; null if the reduction has none.
    void (*divide)(void* to, const void* from, std::int64_t n, std::int64_t count) = nullptr;
    void (*widen)(void* to, const void* from, std::int64_t n) = nullptr; // converts from elements of the dtype
    std::size_t wide = 0;
};

namespace detail {

/// A thread-safe table that registrars fill. An entry replaces an existing one of the same or a lower instruction-set level.
template <class Value> class registry_table {
public:
    void add(std::string key, int level, const Value& value) {
        const std::unique_lock lock(mutex_);
        const auto [at, fresh] = entries_.try_emplace(std::move(key), entry{level, value});
        if (!fresh && at->second.level <= level) at->second = entry{level, value};
    }
    /// Changes the entry of this key, or a new one, regardless of levels.
    template <class F> void change(const std::string& key, const F& f) {
        const std::unique_lock lock(mutex_);
        f(entries_[key].value);
    }
    std::optional<Value> find(const std::string& key) const {
        const std::shared_lock lock(mutex_);
        const auto at = entries_.find(key);
        return at == entries_.end() ? std::nullopt : std::optional<Value>(at->second.value);
    }

private:
    struct entry {
        int level = 0;
        Value value{};
    };
    mutable std::shared_mutex mutex_;
    hash_map<std::string, entry> entries_;
};

/// The pullback of a one-op program, for gradients of programs.
struct pullback_rule {
    /// Traces the pullback into a program under construction; defined by the tracer in expr/. It ignores `args` or `result` if
    /// `reads` excludes them.
    void (*trace)(void* tracer, const int* args, int result, int gradient, int* adjoints) = nullptr;
    pullback_reads reads = pullback_reads::operands;
};

} // namespace detail

/// Facts about a fusion group's operands when it is bound. Empty vectors: nothing is known.
struct operand_forms {
    std::vector<char> splat;  // per leaf: one value at its pointer serves all elements
    std::vector<char> ones;   // per leaf: a splat of the constant 1
    std::vector<char> summed; // per result: only the sum of its elements is needed, and written
};

/// The nodes that a merged program came from.
struct program_nodes {
    std::vector<int> begins; // per node: the index of its first instruction
    std::vector<int> gives;  // values that are node results
    bool of_numbers = false; // the nodes compute one element each
};

/// The interface of the JIT compiler, which generates machine code when nodes are bound.
struct code_emitter {
    /// Returns the block function of a fusion group, or null if the precompiled kernels are faster.
    block_function (*group)(const fusion_group& group, std::size_t results, index_t elements,
                            const operand_forms& forms);
    /// Returns true if the JIT can generate code for this instruction.
    bool (*knows)(const program& p, const program::instruction& i);
    /// Returns the block function of a program over one element, without scalars; null if the JIT cannot compile it.
    block_function (*numbers)(const program& p, const program_nodes& nodes, const operand_forms& forms);
    /// Returns the machine code of a scalar loop; its `run` is null if the JIT cannot compile it.
    loop_code (*loop)(const scalar_loop& loop);
};

/// The process-wide registry: kernels by device, op and dtype, the CPU's block functions, and pullbacks of programs.
/// It is leaked on purpose: kernels may run while statics are destroyed.
struct RILL_EXPORT kernel_registry {
    detail::registry_table<kernel_factory> factories;        // "cpu/MatMul/float32"
    detail::registry_table<block_kernels> blocks;            // a program's key
    detail::registry_table<reducer> reducers;                // "Sum/float32"
    detail::registry_table<detail::pullback_rule> pullbacks; // a one-op program's key
    detail::registry_table<compiled_loop> loops;             // the keys of the loop's expressions
    std::atomic<void (*)()> rare{nullptr};                   // registers the kernels for rarely used dtypes
    std::atomic<const code_emitter*> emit{nullptr};          // set by all_kernels.hpp, which rill::kernels contains
};

/// Returns the registry for look-up.
const kernel_registry& the_kernels();

namespace detail {

std::string kernel_key(std::string_view op, dtype type);

} // namespace detail

/// Registers the kernels for rarely used dtypes, if the program has them (all_types.hpp, which rill::kernels contains).
/// Returns true if they are registered after the call. Called when a look-up fails.
bool load_rare_kernels();

/// Returns the error text "no kernel of Add($0:half,$1:half) is in this program (place): …".
std::string no_kernel_text(const std::string& what, const std::string& place = {});

/// Returns the kernel factory of an op for a dtype and device type, if this program has it.
std::optional<kernel_factory> find_kernel(std::string_view device, std::string_view op, dtype type);

/// Returns true if this processor supports the x86-64 level (instruction set) that a translation unit was compiled for.
bool supports_level(int level);

/// Returns the best x86-64 level that this processor supports, capped by the environment variable RILL_LEVEL.
/// rill::kernels uses its kernels of this level.
int best_level();

namespace detail {

// The functions that registrars call. They ignore entries that this processor cannot run.
void register_factory(std::string_view device, std::string_view op, dtype type, int level, kernel_factory make);
void register_blocks(const std::string& key, int level, const block_kernels& kernels);
/// Registers the block function of one op. It replaces one of a lower level
/// and keeps the adjoint of an expression with that key.
void register_primitive_blocks(const std::string& key, int level, block_function forward, int lanes = 1);
void register_reducer(std::string_view how, dtype type, int level, const reducer& loops);
void register_pullback(const std::string& key, const pullback_rule& rule);
void register_compiled_loop(const std::string& key, int level, compiled_loop loop);
void register_emitter(const code_emitter* emit);
void register_rare_kernels(void (*compile)());

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/device/kernel_registry.ipp>
#endif
