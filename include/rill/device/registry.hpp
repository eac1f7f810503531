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

/// Binds a kernel of an op (a pointer to its struct of attributes) to shapes.
using kernel_factory = kernel (*)(const void* op, kernel_request& request);

/// The compiled block functions of one expression structure.
struct block_kernels {
    block_function forward = nullptr;
    block_function adjoint = nullptr;        // leaves told apart by masks
    block_function adjoint_of_one = nullptr; // every tensor leaf is the same handle
    block_function by_result = nullptr;      // the adjoint from the result alone, or from neither: as `adjoint`
    int leaves = 0;                          // of the expression
    int by_result_leaves = 0;                // that by_result reads
    int level = 0;                           // of the instruction set that forward was compiled for
    int adjoint_level = 0;
    int lanes = 1; // elements that forward works on at a time: what is left over it pads to as many
    int adjoint_lanes = 1;
};

/// The loops that bring blocks together, for one way of combining and one dtype. Where `widen` is there, they work on
/// elements of so many bytes, which hold more than the dtype does.
struct reducer {
    void (*init)(void* to, std::int64_t n) = nullptr;                                           // the identity
    void (*merge)(void* to, const void* from, std::int64_t n) = nullptr;                        // elementwise
    void (*fold)(void* to, const void* from, std::int64_t n) = nullptr;                         // n elements into one
    void (*fold_rows)(void* to, const void* from, std::int64_t rows, std::int64_t n) = nullptr; // rows of n into one
    /// Sums to means, as elements of the dtype; null where there are none.
    void (*divide)(void* to, const void* from, std::int64_t n, std::int64_t count) = nullptr;
    void (*widen)(void* to, const void* from, std::int64_t n) = nullptr; // from elements of the dtype
    std::size_t wide = 0;
};

namespace detail {

/// A table filled by registrars; an entry built for a better instruction set replaces a lesser one, the later of two equals
/// the earlier.
template <class Value> class registry_table {
public:
    void add(std::string key, int level, const Value& value) {
        const std::unique_lock lock(mutex_);
        const auto [at, fresh] = entries_.try_emplace(std::move(key), entry{level, value});
        if (!fresh && at->second.level <= level) at->second = entry{level, value};
    }
    /// Changes an entry, or a new one, whatever the levels.
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

/// The pullback of an elementwise op for programs.
struct pullback_rule {
    /// Traces it over a program under construction; defined by the tracer in expr/. What it doesn't read may be any number.
    void (*trace)(void* tracer, const int* args, int result, int gradient, int* adjoints) = nullptr;
    pullback_reads reads = pullback_reads::operands;
};

} // namespace detail

/// What can be known of a chain's operands when it is bound; empty: nothing.
struct operand_forms {
    std::vector<char> splat;  // leaves that are one number for all elements: it lies where they point
    std::vector<char> ones;   // of which that number is known to be 1
    std::vector<char> summed; // results whose elements nobody needs, but their sum: it is written alone
};

/// The nodes of a program that was several.
struct program_nodes {
    std::vector<int> begins; // of each, the number of its first instruction
    std::vector<int> gives;  // values that are results of nodes
    bool of_numbers = false; // over one element
};

/// What makes machine code when nodes are bound.
struct code_emitter {
    /// The block function of a chain of fused nodes with so many results over so many elements; null where what was compiled for it
    /// is better.
    block_function (*chain)(const fusion_group& chain, std::size_t results, index_t elements,
                            const operand_forms& forms);
    /// Whether there is code for an instruction.
    bool (*knows)(const program& p, const program::instruction& i);
    /// The block function of a program of single floats, without scalars; null where that can't be made.
    block_function (*numbers)(const program& p, const program_nodes& nodes, const operand_forms& forms);
};

/// Everything the process can run: kernels by device, op and dtype; what the CPU's fused loops are made of; and how programs
/// are differentiated. One per process, leaked: kernels may run while statics are destroyed.
struct RILL_EXPORT kernel_registry {
    detail::registry_table<kernel_factory> factories;        // "cpu/MatMul/float32"
    detail::registry_table<block_kernels> blocks;            // a program's key
    detail::registry_table<reducer> reducers;                // "Sum/float32"
    detail::registry_table<detail::pullback_rule> pullbacks; // a one-op program's key
    detail::registry_table<scalar_loop> loops;               // the keys of its expressions
    std::atomic<void (*)()> rare{nullptr};                   // adds those for types that few programs use
    std::atomic<const code_emitter*> emit{nullptr};          // with all_kernels.hpp, which rill::kernels has
};

/// For looking up. Where the program links rill::kernels, the first call adds what is in there.
const kernel_registry& the_kernels();

namespace detail {

std::string kernel_key(std::string_view op, dtype type);

} // namespace detail

/// What is asked for when there is no kernel: adds those for element types that few programs use, if the program has them (all_types.hpp,
/// which rill::kernels has) and they are not there yet. Whether they are there now.
bool load_rare_kernels();

/// "no kernel of Add($0:half,$1:half) is in this program: …"; the place stands in front of the colon.
std::string no_kernel_text(const std::string& what, const std::string& place = {});

/// The kernel of an op for a dtype on a type of device, if it is in this program.
std::optional<kernel_factory> find_kernel(std::string_view device, std::string_view op, dtype type);

/// Whether this processor has the instruction set a translation unit was compiled for.
bool supports_level(int level);

/// The best level of x86-64 that it has, at most that of the environment's RILL_LEVEL where that is set: which of its kernels
/// rill::kernels uses.
int best_level();

namespace detail {

// What registrars call. Nothing is added that this processor can't run.
void register_factory(std::string_view device, std::string_view op, dtype type, int level, kernel_factory make);
void register_blocks(const std::string& key, int level, const block_kernels& kernels);
/// As above, of one op: in place of what was compiled for lesser instruction sets, and beside an expression's adjoint.
void register_primitive_blocks(const std::string& key, int level, block_function forward, int lanes = 1);
void register_reducer(std::string_view how, dtype type, int level, const reducer& loops);
void register_pullback(const std::string& key, const pullback_rule& rule);
void register_scalar_loop(const std::string& key, int level, scalar_loop loop);
void register_emitter(const code_emitter* emit);
void register_rare_kernels(void (*compile)());

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/device/registry.ipp>
#endif
