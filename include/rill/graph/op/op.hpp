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
#include <rill/graph/op/control_flow_kind.hpp>
#include <rill/graph/op/fields.hpp>
#include <rill/graph/op/known_inputs.hpp>
#include <rill/graph/op/region_use.hpp>

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

namespace detail {

/// Takes ownership. Not std::make_shared, whose machinery every op's type would compile anew.
op_ptr shared(const op* made);

} // namespace detail

/// The node's view of an op's struct. By name: graph/op/op_registry.hpp.
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

namespace detail {

/// How many inputs an op takes: what its struct says (`inputs`, or `least_inputs` where the number is free), or the shapes that
/// its rule takes.
struct input_bounds {
    int least = 0, most = std::numeric_limits<int>::max();
};

/// The ops that stand in for primitives of control flow.
struct flow_ops {
    op_ptr choose, repeat, call;     // with bodies, of these forms
    op_ptr (*number)(int) = nullptr; // a constant of rank 0
};

/// What an op's struct says, as a row of values and of functions of the struct (`self`); null where it says nothing. No virtual
/// functions: a compiler keeps those of every struct that it has seen, for calls that might lead to them.
struct op_def {
    std::string_view name, struct_name;
    const char* label = nullptr;
    const char* no_gradient = nullptr;
    int version = 1;
    input_bounds inputs;
    int alias = -1, updates = -1;
    op_role role = op_role::ordinary;
    step_ordering ordering = step_ordering::none;
    bool takes_handle = false, stateful = false, untyped = false, initialises = false, has_dynamic_outputs = false,
         is_async = false, takes_ownership = false, consumes = false;

    void (*destroy)(const op* made) = nullptr;
    // one of these
    std::vector<tensor_type> (*outputs)(const void* self, const known_inputs& inputs) = nullptr;
    shape_result (*shape_of_one)(const void* self, const dims& x) = nullptr;
    shape_result (*shape_of_two)(const void* self, const dims& x, const dims& y) = nullptr;

    std::vector<endpoint> (*gradient)(const void* self, const gradient_request& request) = nullptr;
    std::string_view (*signature)(const void* self) = nullptr;
    std::string (*made_label)(const void* self) = nullptr;
    dtype (*kernel_type)(const void* self, std::span<const tensor_type> inputs,
                         std::span<const tensor_type> outputs) = nullptr;
    input_list (*writes)(const void* self) = nullptr;
    input_list (*may_be_uninitialized)(const void* self) = nullptr;
    input_list (*host_inputs)(const void* self) = nullptr;
    input_list (*shape_inputs)(const void* self) = nullptr;
    const any_array& (*constant)(const void* self) = nullptr;
    any_array (*known)(const void* self, std::span<const tensor_type> inputs) = nullptr;
    std::uint64_t (*seed)(const void* self) = nullptr;
    bool (*in_place)(const void* self) = nullptr;
    const resource_name& (*resource_place)(const void* self) = nullptr;
    bool (*updates_in_place)(const void* self) = nullptr;
    const fused_spec* (*fused)(const void* self) = nullptr;
    const region_use* (*regions)(const void* self) = nullptr;
    op_ptr (*with_regions)(const region_use& use) = nullptr;
    control_flow_kind (*flow)(const void* self) = nullptr;
    flow_ops (*functional_ops)() = nullptr;
    void (*register_runtime)() = nullptr;
    op_ptr (*fold_operands)(const void* self, int i, const op& producer) = nullptr;
    op_ptr (*fuse_epilogue)(const void* self, const fused_spec& next, std::span<const tensor_type> in) = nullptr;
    void (*fields)(const void* self, field_visitor& visit) = nullptr;
};

} // namespace detail

/// An op with its fields, as the graph sees it. Immutable once in a graph.
class RILL_EXPORT op {
public:
    /// TensorFlow's name of the op; of a fused node, its signature.
    std::string_view name() const { return row_.signature ? row_.signature(self_) : row_.name; }
    /// The op's struct: what kernels are registered under.
    std::string_view kernel_name() const { return row_.name; }
    /// The struct's name as the compiler spells it: tells two structs apart that claim one op's name.
    std::string_view struct_name() const { return row_.struct_name; }
    int version() const { return row_.version; }
    /// The name a node gets if the user gives none.
    std::string label() const;
    /// Keeps state, draws random numbers or is fed: never merged with another node.
    bool stateful() const { return regions() ? regions()->effects : row_.stateful; }
    /// dtype and shape of each output, or invalid_argument with the broken rule.
    std::vector<tensor_type> outputs(const known_inputs& inputs) const;
    /// Adds gradient nodes and returns the gradient of each input (empty where none flows).
    std::vector<endpoint> gradient(const gradient_request& request) const;
    /// Why no gradient flows, or null if the op has one.
    const char* no_gradient_reason() const { return row_.no_gradient; }
    /// The dtype that selects the kernel.
    dtype kernel_type(std::span<const tensor_type> inputs, std::span<const tensor_type> outputs) const;
    /// The input whose memory output 0 shares, or -1. Of an op that writes that input, the output is the variable after it.
    int alias() const { return row_.alias; }
    /// The inputs that are variables and that the op changes.
    input_list writes() const;
    /// The inputs that are variables of which it only asks whether they have a value: they may have none.
    input_list may_be_uninitialized() const {
        return row_.may_be_uninitialized ? row_.may_be_uninitialized(self_) : input_list{};
    }
    /// The inputs that the host reads (sizes, axes, learning rates): they come in its memory, wherever the op runs.
    input_list host_inputs() const { return row_.host_inputs ? row_.host_inputs(self_) : input_list{}; }
    /// The inputs whose values its shape rule reads: a shape, a limit. Where data decides them its nodes stand alone.
    input_list shape_inputs() const { return row_.shape_inputs ? row_.shape_inputs(self_) : input_list{}; }
    /// Its output follows from complete types of inputs alone.
    bool follows_from_types() const { return row_.known; }
    /// The op gives a variable its whole value: the variable need not be initialised before.
    bool initialises() const { return row_.initialises; }
    op_role role() const { return row_.role; }
    /// The value of a constant, else null.
    const any_array* constant() const { return row_.constant ? &row_.constant(self_) : nullptr; }
    /// The value of an output that follows from complete types of inputs alone, as a shape does; else an empty array.
    any_array known(std::span<const tensor_type> inputs) const;
    /// The seed of a random op (0: derived from graph and name).
    std::uint64_t seed() const { return row_.seed ? row_.seed(self_) : 0; }
    /// Output 0 may take the memory of an input of its own size that ends here.
    bool in_place() const { return row_.in_place && row_.in_place(self_); }
    /// The input of which output 0 is a copy with some changes, and whose memory it may take where that ends here; -1: there is none.
    int updates() const { return row_.updates; }
    /// Its outputs have extents that only its run decides (kernel_args::sized).
    bool has_dynamic_outputs() const { return row_.has_dynamic_outputs; }
    /// It may wait for what others do, and holds no thread meanwhile (kernel_args::wait).
    bool is_async() const { return row_.is_async; }
    /// It takes something out of what it uses: a body that has it does that, whoever needs the value.
    bool consumes() const { return row_.consumes; }
    /// It keeps its operands past the step as they are: what nobody else needs it may take over (kernel_args::taken).
    bool takes_ownership() const { return row_.takes_ownership; }
    step_ordering ordering() const { return row_.ordering; }
    /// Of a variable or a resource: where it lives.
    resource_name resource_place() const { return row_.resource_place ? row_.resource_place(self_) : resource_name{}; }
    /// A variable that is written where it is, whoever reads it.
    bool updates_in_place() const { return row_.updates_in_place && row_.updates_in_place(self_); }
    /// What a fused node computes, else null: plans run several of them together.
    const fused_spec* fused() const { return row_.fused ? row_.fused(self_) : nullptr; }
    /// How it runs the bodies that its nodes have, else null.
    const region_use* regions() const { return row_.regions ? row_.regions(self_) : nullptr; }
    /// The same op for bodies that take other things from outside.
    op_ptr with_regions(const region_use& use) const { return row_.with_regions ? row_.with_regions(use) : nullptr; }
    /// Whether it is a primitive of control flow, and which.
    control_flow_kind flow() const { return row_.flow ? row_.flow(self_) : control_flow_kind{}; }
    /// Of a primitive: what can stand in for it and its like.
    detail::flow_ops functional_ops() const { return row_.functional_ops(); }
    /// Returns true if its nodes are dynamic: they have regions, are primitives of control flow, are asynchronous, or only their run
    /// decides the shapes of their outputs.
    bool is_dynamic() const { return row_.register_runtime; }
    /// Returns true if an input's value is a part of an output's shape: a node is dynamic where only a run computes that value.
    bool may_be_dynamic() const { return is_dynamic() || row_.shape_inputs; }
    /// Registers what runs its nodes. Precondition: `is_dynamic`.
    void register_runtime() const { row_.register_runtime(); }
    /// The op that reads the producer's first input in place of its own input i: a product does so with a transpose. Null
    /// if there is none.
    op_ptr fold_operands(int i, const op& producer) const {
        return row_.fold_operands ? row_.fold_operands(self_, i, producer) : nullptr;
    }
    /// The op that also does what a fused node does with its result, whichever input of that it is; the other inputs come after its
    /// own: `in` are the types of all. Null if there is none.
    op_ptr fuse_epilogue(const fused_spec& next, std::span<const tensor_type> in) const {
        return row_.fuse_epilogue ? row_.fuse_epilogue(self_, next, in) : nullptr;
    }
    /// Shows its fields, by name; the visitor changes none.
    void fields(field_visitor& visit) const {
        if (row_.fields) row_.fields(self_, visit);
    }
    /// The op's own struct.
    const void* attributes() const { return self_; }

    std::uint64_t hash() const;
    bool equals(const op& other) const;

protected:
    op(const detail::op_def& row, const void* self) : row_(row), self_(self) {}
    op(const op&) = delete;
    ~op() = default;

private:
    friend op_ptr detail::shared(const op* made);

    const detail::op_def& row_;
    const void* self_;
};

namespace detail {

/// Registers what runs dynamic nodes. It is defined in link/control_flow.ipp and is half of the runtime: a header-only program
/// compiles it only if one of its ops refers to it.
void register_control_flow();

/// Defined where rill::kernels is compiled (all_kernels.ipp): programs that link it need not compile the graph's view of its ops.
template <class Op> op_ptr make_compiled_op(Op o);

} // namespace detail

}} // namespace rill::RILL_ABI

#include <rill/graph/op/op_model.hpp> // what make_op makes

#if !RILL_COMPILED
#include <rill/graph/op/op.ipp>
#endif
