// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rill/core/any_array.hpp>
#include <rill/core/hash.hpp>
#include <rill/core/names.hpp>
#include <rill/core/op_traits.hpp>
#include <rill/core/resource.hpp>
#include <rill/core/small_vector.hpp>
#include <rill/graph/fields.hpp>
#include <rill/graph/flow_use.hpp>
#include <rill/graph/known_inputs.hpp>
#include <rill/graph/region_use.hpp>

namespace rill { inline namespace RILL_ABI {

struct node;

/// One output of a node: where an edge begins.
struct endpoint {
    const node* from = nullptr;
    int port = 0;

    explicit operator bool() const { return from != nullptr; }
    friend bool operator==(const endpoint&, const endpoint&) = default;
};

/// The inputs of a node.
using endpoint_list = small_vector<endpoint, 3>;

class op;
using op_ptr = std::shared_ptr<const op>;

/// The node's view of an op's struct. By name: graph/op_registry.hpp.
template <class Op>
    requires(!std::is_convertible_v<const Op&, std::string_view>)
op_ptr make_op(Op o);

/// The few ops that building gradients needs; the catalogue supplies them.
struct gradient_ops {
    const elementwise_info* add = nullptr;
    endpoint (*ones_like)(const endpoint&) = nullptr;
    endpoint (*add_n)(const std::vector<endpoint>&) = nullptr;
};

/// What a gradient rule sees: the node and the gradients that reached its outputs.
struct gradient_request {
    const node& at;
    std::span<const endpoint> gradients; // per output; empty where none arrived
    std::span<const char> wanted;        // per input: whether its gradient is needed
    const gradient_ops& ops;

    endpoint input(int i) const;
    endpoint output(int i) const;
    endpoint gradient(int i = 0) const { return gradients[i]; }

    /// Adds a node for an op that Self's gradient needs, and returns its first output. Self names the op in `brings`, which is
    /// what makes its kernels part of every program that has Self's.
    template <class Self, class Op> endpoint add(Op made, endpoint_list inputs) const {
        static_assert(std::is_same_v<Self, Op> || detail::op_brings<Self, Op>,
                      "gradient: an op that it adds must be named in the struct's `brings`");
        return add_node(make_op(std::move(made)), std::move(inputs));
    }

private:
    endpoint add_node(op_ptr made, endpoint_list inputs) const;
};

/// Nodes that a plan treats in ways of their own. Control: nothing to compute, it only waits. Resource: the handle of one.
enum class op_role : std::uint8_t { ordinary, placeholder, constant, variable, control, resource };

/// What an op that waits for others means for the rest of its step. Reads: what comes after it sees variables as they are then, not as
/// they were when the step began. Turns: besides, those on one handle run in order of creation.
enum class step_ordering : std::uint8_t { none, reads, turns };

/// An op with its fields, as the graph sees it. Immutable once in a graph.
class RILL_EXPORT op {
public:
    virtual ~op() = default;

    /// TensorFlow's name of the op; of a fused node, its signature.
    virtual std::string_view name() const = 0;
    /// The op's struct: what kernels are registered under.
    virtual std::string_view kernel_name() const = 0;
    /// The struct's name as the compiler spells it: tells two structs apart that claim one op's name.
    virtual std::string_view struct_name() const = 0;
    virtual int version() const = 0;
    /// The name a node gets if the user gives none.
    virtual std::string label() const = 0;
    /// Keeps state, draws random numbers or is fed: never merged with another node.
    virtual bool stateful() const = 0;
    /// dtype and shape of each output, or invalid_argument with the broken rule.
    virtual std::vector<tensor_type> outputs(const known_inputs& inputs) const = 0;
    /// Adds gradient nodes and returns the gradient of each input (empty where none flows).
    virtual std::vector<endpoint> gradient(const gradient_request& request) const = 0;
    /// Why no gradient flows, or null if the op has one.
    virtual const char* no_gradient_reason() const = 0;
    /// The dtype that selects the kernel.
    virtual dtype kernel_type(std::span<const tensor_type> inputs, std::span<const tensor_type> outputs) const = 0;
    /// The input whose memory output 0 shares, or -1. Of an op that writes that input, the output is the variable after it.
    virtual int alias() const = 0;
    /// The inputs that are variables and that the op changes.
    virtual input_list writes() const = 0;
    /// The inputs that are variables of which it only asks whether they have a value: they may have none.
    virtual input_list may_lack_value() const = 0;
    /// The inputs that the host reads (sizes, axes, learning rates): they come in its memory, wherever the op runs.
    virtual input_list host_inputs() const = 0;
    /// The op gives a variable its whole value: the variable need not be initialised before.
    virtual bool initialises() const = 0;
    virtual op_role role() const = 0;
    /// The value of a constant, else null.
    virtual const any_array* constant() const = 0;
    /// The value of an output that follows from complete types of inputs alone, as a shape does; else an empty array.
    virtual any_array known(std::span<const tensor_type> inputs) const = 0;
    /// The seed of a random op (0: derived from graph and name).
    virtual std::uint64_t seed() const = 0;
    /// Output 0 may take the memory of an input of its own size that ends here.
    virtual bool in_place() const = 0;
    /// The input of which output 0 is a copy with some changes, and whose memory it may take where that ends here; -1: there is none.
    virtual int updates() const = 0;
    /// Its outputs have extents that only its run decides (kernel_args::sized).
    virtual bool sizes_itself() const = 0;
    /// It may wait for what others do, and holds no thread meanwhile (kernel_args::wait).
    virtual bool waits() const = 0;
    /// It keeps its operands past the step as they are: what nobody else needs it may take over (kernel_args::taken).
    virtual bool keeps_operands() const = 0;
    virtual step_ordering ordering() const = 0;
    /// Of a variable or a resource: where it lives.
    virtual resource_name resource_place() const = 0;
    /// A variable that is written where it is, whoever reads it.
    virtual bool updates_in_place() const = 0;
    /// What a fused node computes, else null: plans run several of them together.
    virtual const fused_spec* fused() const = 0;
    /// How it runs the bodies that its nodes have, else null.
    virtual const region_use* regions() const = 0;
    /// The same op for bodies that take other things from outside.
    virtual op_ptr with_regions(const region_use& use) const = 0;
    /// Whether it is a primitive of control flow, and which.
    virtual flow_use flow() const = 0;
    /// The op that reads the producer's first input in place of its own input i: a product does so with a transpose. Null
    /// if there is none.
    virtual op_ptr absorb(int i, const op& producer) const = 0;
    /// Shows its fields, by name; the visitor changes none.
    virtual void fields(field_visitor& visit) const = 0;
    /// The op's own struct.
    virtual const void* attributes() const = 0;

    std::uint64_t hash() const;
    bool equals(const op& other) const;
};

namespace detail {

/// Takes ownership. Not std::make_shared, whose machinery every op's type would compile anew.
op_ptr shared(const op* made);

/// How many inputs an op takes: what its struct says (`inputs`, or `least_inputs` where the number is free), or the shapes that
/// its rule takes.
struct input_bounds {
    int least = 0, most = std::numeric_limits<int>::max();
};
void check_count(input_bounds b, std::size_t given);
/// Refuses a first input that can't be the handle of a resource.
void check_handle(std::span<const tensor_type> inputs);

/// Defined where rill::kernels is compiled (all_kernels.ipp): programs that link it need not compile the graph's view of its ops.
template <class Op> op_ptr make_compiled_op(Op o);

} // namespace detail

}} // namespace rill::RILL_ABI

#include <rill/graph/op_model.hpp> // what make_op makes

#if !RILL_COMPILED
#include <rill/graph/op.ipp>
#endif
