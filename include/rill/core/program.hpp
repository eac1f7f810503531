// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rill/core/elementwise_info.hpp>
#include <rill/core/shape_rules.hpp>
#include <rill/core/small_vector.hpp>
#include <rill/core/strided_view.hpp>
#include <rill/core/vector.hpp>

namespace rill { inline namespace RILL_ABI {

/// An elementwise computation as data: leaves, then scalars, then one value per instruction, in order of evaluation. The run-time
/// counterpart of an expression type. Processes without the compiled kernel interpret it.
struct program {
    struct instruction {
        const elementwise_info* op;
        dtype type;            // type of the result
        std::vector<int> args; // value numbers
    };

    std::vector<dtype> leaves;
    std::vector<dtype> scalars;
    detail::vector<instruction> code;
    std::vector<int> results; // value numbers
    std::string key;          // equal keys mean equal programs: "Mul(Add($0:float32,s0:float32),$1:float32)"
    std::string adjoint_of;   // for an adjoint program: the key of the differentiated program

    int first_scalar() const { return static_cast<int>(leaves.size()); }
    int first_instruction() const { return first_scalar() + static_cast<int>(scalars.size()); }
    bool is_scalar(int value) const { return value >= first_scalar() && value < first_instruction(); }
    dtype type_of(int value) const;
    /// Returns the cost of one element, in additions.
    double work() const;
    /// Returns true if an instruction uses the value, or a result is the value.
    bool uses(int value) const;
};

/// Returns true if a run may report an integer division by zero.
bool divides_integers(const program& p);

/// Returns the suffix that a key adds to an op whose result differs in type from its first operand: "Greater(…):bool".
std::string result_suffix(dtype result, dtype first_operand);

/// Returns the key of the one-op program of an instruction: "Mul($0:float32,$1:float32)". One argument may be that program's scalar:
/// "Mul($0:float32,s0:float32)".
std::string instruction_key(const program& p, const program::instruction& i, int scalar = -1);

/// Returns a key that lists a program's instructions: "program float32;; Tanh:float32 0 -> 1". Compiled kernels never have such a key.
std::string spelled_key(const program& p);

/// Returns the key of the expression that a program computes: "Mul(Add($0:float32,s0:float32),$1:float32)". The program must use each
/// leaf, scalar and instruction once, in order. Returns an empty string for other programs, and for those too long for a compiled
/// kernel.
std::string expression_key(const program& p);

/// Returns true if a program is one op over its leaves in order. It may then use the op's key to find a compiled kernel.
bool is_one_op(const program& p);

using program_ptr = std::shared_ptr<const program>;

/// The value of a scalar operand: data, not part of the type. Compared by bits.
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

/// The way in which the elements of a fused node's result are combined.
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

/// One result of a fused node: mapped, reduced, or (adjoints) summed to the shape of an input.
struct fused_result {
    reduction reduce;
    int like = -1;          // the input whose shape the result takes
    std::uint32_t mask = 0; // compiled adjoint kernels: the leaf occurrences whose adjoints are added
    friend bool operator==(const fused_result&, const fused_result&) = default;
};

/// The source of a leaf of a fused node. If `reduced`, the input has the shape of the node's space reduced over these axes (the
/// gradient of a reduction). The gradient of a mean is divided by the number of elements per mean.
struct fused_leaf {
    int input = 0;
    reduction view;
    friend bool operator==(const fused_leaf&, const fused_leaf&) = default;
};

/// A fused node: a program run over the broadcast shape of its leaves in one pass.
struct fused_spec {
    /// The compiled kernel that serves the node, if any. The leaves of an adjoint are the leaves of the differentiated node and the
    /// gradient. The leaves of by_result are the result, if read, and the gradient.
    enum class form : std::uint8_t { forward, adjoint, program, by_result };

    program_ptr body;
    form kind = form::forward;
    // in place: the adjoint of a binary op
    small_vector<fused_leaf, 3> leaves;
    small_vector<fused_result, 2> results;
    detail::vector<scalar_value> scalars; // not stored inline: bound kernels point to them

    bool is_adjoint() const { return kind == form::adjoint || kind == form::by_result; }

    /// Returns the key of the expression whose compiled kernel serves the node; empty if there is none.
    const std::string& kernel() const;
    /// Returns true if a kernel of the node may read the elements of leaf k. Compiled kernels read all leaves.
    bool reads_leaf(std::size_t k) const;

    friend bool operator==(const fused_spec& a, const fused_spec& b) {
        const bool same = a.body == b.body || (a.body && b.body && a.body->key == b.body->key);
        return same && a.leaves == b.leaves && a.scalars == b.scalars && a.results == b.results;
    }
};

/// Fused nodes over one space. Each block of elements passes through all nodes in turn while it is in the L1 cache.
struct fusion_group {
    /// The input of a member: a result of an earlier member or, for member -1, an input of the group.
    struct source {
        int member, index;
    };
    struct member {
        const fused_spec* spec;
        detail::vector<source> inputs; // per input of the node
        std::vector<int> results; // per result: its output number in the group, or -1 if only later members read it
    };
    /// An input that is a view of the memory at its address.
    struct viewed_input {
        int input;
        strided_view view;
    };
    /// An output that is written into a padded tensor at its address, with the padding.
    struct padded_output {
        int output;
        padded_view padding;
    };
    static constexpr std::string_view name = "FusionGroup"; // name of its kernel in the registry

    detail::vector<member> members;
    detail::vector<viewed_input> views = {};     // the other inputs are dense
    detail::vector<padded_output> paddings = {}; // the other outputs are dense
};

/// Returns the shape that the leaves of a fused node broadcast to.
shape_result fused_space(const fused_spec& spec, std::span<const tensor_type> inputs);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/core/program.ipp>
#endif
