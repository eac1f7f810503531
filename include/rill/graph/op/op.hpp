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

/// One output of a node: the source of an edge.
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

/// Takes ownership of an op. Avoids std::make_shared, which would instantiate its machinery for every op's type.
op_ptr shared(const op* made);

} // namespace detail

/// Makes the graph's view of an op from the op's struct. graph/op/op_registry.hpp makes ops by name.
template <class Op>
    requires(!std::is_convertible_v<const Op&, std::string_view>)
op_ptr make_op(Op o);

/// The ops that add_gradients itself needs. The catalogue supplies them.
struct gradient_ops {
    const elementwise_info* add = nullptr;
    endpoint (*ones_like)(const endpoint&) = nullptr;
    endpoint (*add_n)(const std::vector<endpoint>&) = nullptr;
};

/// The arguments of a gradient rule: the node and the gradients that reached its outputs.
struct gradient_request {
    const node& at;
    std::span<const endpoint> gradients; // per output; null if none arrived
    std::span<const char> wanted;        // per input: nonzero if its gradient is needed
    const gradient_ops& ops;

    endpoint input(int i) const;
    endpoint output(int i) const;
    endpoint gradient(int i = 0) const { return gradients[i]; }

    /// Adds a node for an op that Self's gradient needs, and returns its first output. Self must name the op in `brings`. So a program
    /// that has Self's kernels also has that op's.
    template <class Self, class Op> endpoint add(Op made, endpoint_list inputs) const {
        static_assert(std::is_same_v<Self, Op> || detail::op_brings<Self, Op>,
                      "gradient: an op that it adds must be named in the struct's `brings`");
        return add_node(make_op(std::move(made)), std::move(inputs));
    }

private:
    endpoint add_node(op_ptr made, endpoint_list inputs) const;
};

/// The role of a node in a plan. `control` nodes compute nothing and only wait; `resource` nodes give the handle of a resource.
enum class op_role : std::uint8_t { ordinary, placeholder, constant, variable, control, resource };

/// The ordering that an op which may wait imposes on its step. `reads`: later nodes see variables as they are then, not as at the
/// step's start. `turns`: in addition, nodes on one handle run in order of creation.
enum class step_ordering : std::uint8_t { none, reads, turns };

namespace detail {

/// The number of inputs that an op accepts. It follows from the struct's `inputs` or `least_inputs`, or from the parameters of its
/// shape rule.
struct input_bounds {
    int least = 0, most = std::numeric_limits<int>::max();
};

/// The functional ops that replace control-flow primitives.
struct flow_ops {
    op_ptr choose, repeat, call;     // region ops of these forms
    op_ptr (*number)(int) = nullptr; // makes a constant of rank 0
};

/// The definition of an op: values, and functions of its struct (`self`). A null member has the default meaning. This is a table, not
/// virtual functions: a compiler keeps those of every struct that it sees, in case a call reaches them.
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
    // exactly one of these three is set
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

/// An op with its fields, as the graph sees it. Immutable once it is in a graph.
class RILL_EXPORT op {
public:
    /// Returns TensorFlow's name of the op; for a fused node, its signature.
    std::string_view name() const { return row_.signature ? row_.signature(self_) : row_.name; }
    /// Returns the name that kernels are registered under.
    std::string_view kernel_name() const { return row_.name; }
    /// Returns the struct's name as the compiler spells it. It tells two structs apart that claim the same op name.
    std::string_view struct_name() const { return row_.struct_name; }
    int version() const { return row_.version; }
    /// Returns the name of a node whose user gives none.
    std::string label() const;
    /// Returns true if the op keeps state, draws random numbers or is fed. Such nodes are never merged with others.
    bool stateful() const { return regions() ? regions()->effects : row_.stateful; }
    /// Returns the dtype and shape of each output. Throws invalid_argument with the rule that is broken.
    std::vector<tensor_type> outputs(const known_inputs& inputs) const;
    /// Adds gradient nodes and returns the gradient of each input; null where none flows.
    std::vector<endpoint> gradient(const gradient_request& request) const;
    /// Returns why no gradient flows, or null if the op has one.
    const char* no_gradient_reason() const { return row_.no_gradient; }
    /// Returns the dtype that selects the kernel.
    dtype kernel_type(std::span<const tensor_type> inputs, std::span<const tensor_type> outputs) const;
    /// Returns the input whose memory output 0 shares, or -1. If the op writes that input, output 0 is the variable after the write.
    int alias() const { return row_.alias; }
    /// Returns the inputs that are variables which the op writes.
    input_list writes() const;
    /// Returns the inputs that are variables without need of a value: the op only asks whether they have one.
    input_list may_be_uninitialized() const {
        return row_.may_be_uninitialized ? row_.may_be_uninitialized(self_) : input_list{};
    }
    /// Returns the inputs that the host reads (sizes, axes, learning rates). They arrive in host memory, wherever the op runs.
    input_list host_inputs() const { return row_.host_inputs ? row_.host_inputs(self_) : input_list{}; }
    /// Returns the inputs whose values the shape rule reads, such as a shape or a limit. If only a run computes one of them, the node
    /// is dynamic.
    input_list shape_inputs() const { return row_.shape_inputs ? row_.shape_inputs(self_) : input_list{}; }
    /// Returns true if the value of the output follows from complete input types alone.
    bool follows_from_types() const { return row_.known; }
    /// Returns true if the op assigns a variable's whole value: the variable need not be initialized before.
    bool initialises() const { return row_.initialises; }
    op_role role() const { return row_.role; }
    /// Returns the value of a constant; null for all other ops.
    const any_array* constant() const { return row_.constant ? &row_.constant(self_) : nullptr; }
    /// Returns the output value if it follows from complete input types alone, as a shape does. Else returns an empty array.
    any_array known(std::span<const tensor_type> inputs) const;
    /// Returns the seed of a random op; 0 means a seed derived from graph and name.
    std::uint64_t seed() const { return row_.seed ? row_.seed(self_) : 0; }
    /// Returns true if output 0 may reuse the memory of an input of its size that dies here.
    bool in_place() const { return row_.in_place && row_.in_place(self_); }
    /// Returns the input of which output 0 is a modified copy, or -1. Output 0 may reuse its memory if that input is dead after this
    /// op.
    int updates() const { return row_.updates; }
    /// Returns true if only the run decides the extents of the outputs (kernel_args::sized).
    bool has_dynamic_outputs() const { return row_.has_dynamic_outputs; }
    /// Returns true if the op may wait for others, without holding a thread meanwhile (kernel_args::wait).
    bool is_async() const { return row_.is_async; }
    /// Returns true if the op removes something from a resource. A body that contains such an op runs it even if no result needs it.
    bool consumes() const { return row_.consumes; }
    /// Returns true if the op keeps its operands past the step. It may take over an operand that nothing else needs
    /// (kernel_args::taken).
    bool takes_ownership() const { return row_.takes_ownership; }
    step_ordering ordering() const { return row_.ordering; }
    /// Returns where a variable or a resource lives.
    resource_name resource_place() const { return row_.resource_place ? row_.resource_place(self_) : resource_name{}; }
    /// Returns true for a variable that writes update in place, even while others read it.
    bool updates_in_place() const { return row_.updates_in_place && row_.updates_in_place(self_); }
    /// Returns the program of a fused node, else null. Plans run several fused nodes together.
    const fused_spec* fused() const { return row_.fused ? row_.fused(self_) : nullptr; }
    /// Returns how a region op runs the bodies of its nodes; null for all other ops.
    const region_use* regions() const { return row_.regions ? row_.regions(self_) : nullptr; }
    /// Returns the same region op for another region_use, such as one with other captures.
    op_ptr with_regions(const region_use& use) const { return row_.with_regions ? row_.with_regions(use) : nullptr; }
    /// Returns which control-flow primitive the op is, if any.
    control_flow_kind flow() const { return row_.flow ? row_.flow(self_) : control_flow_kind{}; }
    /// Returns the functional ops that can replace primitives. Precondition: this op is a primitive.
    detail::flow_ops functional_ops() const { return row_.functional_ops(); }
    /// Returns true if its nodes are dynamic: they have regions, are control-flow primitives, are asynchronous, or have dynamic
    /// outputs.
    bool is_dynamic() const { return row_.register_runtime; }
    /// Returns true if the op is dynamic, or if its shape rule reads the value of an input. In the latter case a node is dynamic if
    /// only a run computes that value.
    bool may_be_dynamic() const { return is_dynamic() || row_.shape_inputs; }
    /// Registers the runtime of dynamic nodes. Precondition: `is_dynamic`.
    void register_runtime() const { row_.register_runtime(); }
    /// Returns the op that reads the producer's first input in place of its own input i, or null. For example, a matrix product
    /// absorbs a transpose.
    op_ptr fold_operands(int i, const op& producer) const {
        return row_.fold_operands ? row_.fold_operands(self_, i, producer) : nullptr;
    }
    /// Returns the op that also computes the fused node that reads its result, or null. The fused node may read the result through any
    /// input; its other inputs follow the op's own. `in` has the types of all inputs.
    op_ptr fuse_epilogue(const fused_spec& next, std::span<const tensor_type> in) const {
        return row_.fuse_epilogue ? row_.fuse_epilogue(self_, next, in) : nullptr;
    }
    /// Shows the fields to a visitor, by name. The visitor must not change them.
    void fields(field_visitor& visit) const {
        if (row_.fields) row_.fields(self_, visit);
    }
    /// Returns the op's own struct.
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

/// Registers the runtime of dynamic nodes, which is half of the whole runtime. Defined in link/control_flow.ipp: a header-only program
/// compiles it only if one of its ops refers to it.
void register_control_flow();

/// Makes the graph's view of an op of the compiled library. Defined in all_kernels.ipp: programs that link rill::kernels need not
/// compile that view.
template <class Op> op_ptr make_compiled_op(Op o);

} // namespace detail

}} // namespace rill::RILL_ABI

#include <rill/graph/op/op_model.hpp> // defines make_op

#if !RILL_COMPILED
#include <rill/graph/op/op.ipp>
#endif
