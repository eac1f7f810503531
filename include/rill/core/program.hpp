// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rill/core/shape_rules.hpp>
#include <rill/core/small_vector.hpp>
#include <rill/core/vector.hpp>

namespace rill { inline namespace RILL_ABI {

/// An elementwise op as programs see it. Its struct makes one (device/elementwise_op.hpp); they outlive every program.
struct elementwise_info {
    std::string_view name;
    int version = 1;
    int cost = 1;         // of an element, in additions
    bool divides = false; // of integers it may report a division by zero
};

/// An elementwise computation as data: leaves, then scalars, then one value per instruction, in order of evaluation.
/// The run-time counterpart of an expression type; what a process without the compiled kernel interprets.
struct program {
    struct instruction {
        const elementwise_info* op;
        dtype type;            // of the result
        std::vector<int> args; // value numbers
    };

    std::vector<dtype> leaves;
    std::vector<dtype> scalars;
    detail::vector<instruction> code;
    std::vector<int> results; // value numbers
    std::string key;          // equal keys mean equal programs: "Mul(Add($0:float32,s0:float32),$1:float32)"
    std::string adjoint_of;   // of a program that computes the adjoints of another: that one's key

    int first_scalar() const { return static_cast<int>(leaves.size()); }
    int first_instruction() const { return first_scalar() + static_cast<int>(scalars.size()); }
    bool is_scalar(int value) const { return value >= first_scalar() && value < first_instruction(); }
    dtype type_of(int value) const;
    /// Returns the cost of one element, in additions.
    double work() const;
    /// Returns true if an instruction uses the value, or a result is the value.
    bool uses(int value) const;
};

/// Whether running it may report an integer division by zero.
bool divides_integers(const program& p);

/// In a key, the result's type stands behind an op whose result differs from its first operand: "Greater(…):bool".
std::string result_suffix(dtype result, dtype first_operand);

/// The key of the one-op program that serves an instruction: "Mul($0:float32,$1:float32)". One argument may be that program's
/// scalar: "Mul($0:float32,s0:float32)".
std::string instruction_key(const program& p, const program::instruction& i, int scalar = -1);

/// The key that spells a program out, instruction by instruction: "program float32;; Tanh:float32 0 -> 1". No compiled kernel has such
/// a key.
std::string spelled_key(const program& p);

/// The key of the expression that a program computes, whose leaves, scalars and instructions are each used once, in order:
/// "Mul(Add($0:float32,s0:float32),$1:float32)". Empty of other programs, and of those too long to have a compiled kernel.
std::string expression_key(const program& p);

/// It is one op over its leaves in order, and may go by that op's key: under it a compiled kernel is found.
bool is_one_op(const program& p);

using program_ptr = std::shared_ptr<const program>;

/// The value of a scalar operand: data, not type. Compared by bits.
struct scalar_value {
    dtype type = dtype::invalid;
    alignas(8) std::array<std::byte, 16> bytes{};

    scalar_value() = default;
    template <class T> constexpr explicit scalar_value(const T& value) : type(dtype_of<T>) {
        static_assert(sizeof(T) <= 16 && std::is_trivially_copyable_v<T>);
        std::memcpy(bytes.data(), &value, sizeof(T));
    }
    template <class T> T as() const {
        T value;
        std::memcpy(&value, bytes.data(), sizeof(T));
        return value;
    }
    friend bool operator==(const scalar_value&, const scalar_value&) = default;
};

/// How the elements of a fused node's result come together.
enum class combine : std::uint8_t { map, sum, mean, prod, max, min, all, any };

constexpr std::string_view to_string(combine c) {
    constexpr std::string_view names[] = {"Map", "Sum", "Mean", "Prod", "Max", "Min", "All", "Any"};
    return names[static_cast<std::size_t>(c)];
}

struct reduction {
    combine how = combine::map;
    axis_list axes;
    bool keep_dims = false;
    friend bool operator==(const reduction&, const reduction&) = default;
};

/// One result of a fused node: mapped, reduced, or (an adjoint) summed to the shape of an input.
struct fused_result {
    reduction reduce;
    int like = -1;          // the input whose shape the result takes
    std::uint32_t mask = 0; // compiled adjoint kernels: the leaf occurrences whose adjoints it adds up
    friend bool operator==(const fused_result&, const fused_result&) = default;
};

/// Where a leaf of a fused node comes from. Reduced: the input has the shape of the node's space reduced over these axes
/// (the gradient of a reduction), and for a mean is divided by the number of elements that went into each.
struct fused_leaf {
    int input = 0;
    reduction view;
    friend bool operator==(const fused_leaf&, const fused_leaf&) = default;
};

/// A fused node: a program run over the broadcast shape of its leaves in one pass.
struct fused_spec {
    /// Which compiled kernel serves it, if any. The leaves of an adjoint are those of what it differentiates, and the gradient;
    /// of one by result, that result, where it is read, and the gradient.
    enum class form : std::uint8_t { forward, adjoint, program, by_result };

    program_ptr body;
    form kind = form::forward;
    // in place: the adjoint of a binary op
    small_vector<fused_leaf, 3> leaves;
    small_vector<fused_result, 2> results;
    detail::vector<scalar_value> scalars; // not in place: bound kernels point to them

    bool is_adjoint() const { return kind == form::adjoint || kind == form::by_result; }

    /// Key of the expression whose compiled kernel serves it, if there is one; else empty.
    const std::string& kernel() const;
    /// Returns true if a kernel of the node may read the elements of leaf k. Compiled kernels read all leaves.
    bool reads_leaf(std::size_t k) const;

    friend bool operator==(const fused_spec& a, const fused_spec& b) {
        const bool same = a.body == b.body || (a.body && b.body && a.body->key == b.body->key);
        return same && a.leaves == b.leaves && a.scalars == b.scalars && a.results == b.results;
    }
};

/// Fused nodes over one space: each block of elements goes through all of them, one after the other, while it is in the
/// first-level cache.
struct fusion_group {
    /// A result of an earlier member; of member -1, an input of the group.
    struct source {
        int member, index;
    };
    struct member {
        const fused_spec* spec;
        detail::vector<source> inputs; // of each input of the node
        std::vector<int>
            results; // of each result: which output of the group it is, or -1 if only later members read it
    };
    static constexpr std::string_view name = "FusionGroup"; // of its kernel in the registry

    detail::vector<member> members;
};

/// The shape that the leaves of a fused node broadcast to.
shape_result fused_space(const fused_spec& spec, std::span<const tensor_type> inputs);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/core/program.ipp>
#endif
