// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rill/graph/op/op_def.hpp>

namespace rill { inline namespace RILL_ABI {

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
    /// Returns the reason why the op has no gradient, or null if it has one.
    const char* no_gradient_reason() const { return row_.no_gradient; }
    /// Returns the dtype that selects the kernel.
    dtype kernel_type(std::span<const tensor_type> inputs, std::span<const tensor_type> outputs) const;
    /// Returns the input whose memory output 0 shares, or -1. If the op writes that input, output 0 is the variable after the write.
    int alias() const { return row_.alias; }
    /// Returns the inputs that are variables which the op writes.
    input_list writes() const;
    /// Returns the variable inputs that need no value: the op only checks whether they have one.
    input_list may_be_uninitialized() const {
        return row_.may_be_uninitialized ? row_.may_be_uninitialized(self_) : input_list{};
    }
    /// Returns the inputs that the host reads (sizes, axes, handles). They arrive in host memory, wherever the op runs.
    input_list host_inputs() const { return row_.host_inputs ? row_.host_inputs(self_) : input_list{}; }
    /// Returns true for host code that gives its outputs in the memory of the node's device.
    bool delivers_to_device() const { return row_.delivers_to_device && row_.delivers_to_device(self_); }
    /// Returns the inputs whose values the shape rule reads, such as a shape or a limit. If only a run computes one of them, the node
    /// is dynamic.
    input_list shape_inputs() const { return row_.shape_inputs ? row_.shape_inputs(self_) : input_list{}; }
    /// Returns the inputs, of `count`, of which only dtype and shape matter: neither the kernel nor the shape rule reads their elements.
    /// Within a static segment the kernel gets a null address for them.
    input_list shape_only_inputs(std::size_t count) const {
        return row_.shape_only_inputs ? row_.shape_only_inputs(self_, static_cast<int>(count)) : input_list{};
    }
    /// Returns the cost of one run; by default, the bytes of the inputs that are read and of the outputs. Shapes must be complete.
    op_cost cost(std::span<const tensor_type> inputs, std::span<const tensor_type> outputs) const;
    /// Returns the input whose variable determines the node's device unless a scope overrides it, or -1. Such an op reads little of a
    /// large variable.
    int colocated_input() const { return row_.colocated_input; }
    /// Returns true if the value of the output follows from complete input types alone.
    bool follows_from_types() const { return row_.known; }
    /// Returns true if the op assigns a variable's whole value: the variable need not be initialized before.
    bool initialises() const { return row_.initialises; }
    /// Returns true if the op writes every element of the variables in `writes`. It reads old elements at kernel_args::variable_was only.
    /// Such a write copies nothing while others read the variable.
    bool replaces_variables() const { return row_.replaces_variables; }
    /// Returns the input of which the op reads only some slices, or -1. If it is a variable, a concurrent write of other slices copies
    /// nothing.
    int reads_slices_of() const { return row_.reads_slices_of; }
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
    /// Returns true if the op may wait for other steps without blocking a thread (kernel_args::wait).
    bool is_async() const { return row_.is_async; }
    /// Returns true if the op removes something from a resource. A body that contains such an op runs it even if no result needs it.
    bool consumes() const { return row_.consumes; }
    /// Returns true if the op keeps its operands past the step. It may take over an operand that nothing else needs
    /// (kernel_args::taken).
    bool takes_ownership() const { return row_.takes_ownership; }
    step_ordering ordering() const { return row_.ordering_of ? row_.ordering_of(self_) : row_.ordering; }
    /// Returns the container and name of a variable or a resource.
    resource_name resource_place() const { return row_.resource_place ? row_.resource_place(self_) : resource_name{}; }
    /// Returns true for a variable that writes update in place, even while others read it.
    bool updates_in_place() const { return row_.updates_in_place && row_.updates_in_place(self_); }
    /// Returns the program of a fused node, else null. Plans run several fused nodes together.
    const fused_spec* fused() const { return row_.fused ? row_.fused(self_) : nullptr; }
    /// Returns the elements of input 0 that output 0 consists of, in order, if the op computes nothing else. A fused node can read them in
    /// place.
    std::optional<strided_view> view_of_input(std::span<const tensor_type> inputs) const {
        return row_.view_of_input ? row_.view_of_input(self_, inputs) : std::nullopt;
    }
    /// Returns the place of input 0 in output 0, if the op only pads it. A fused node can write its result there.
    std::optional<padded_view> pads_input(std::span<const tensor_type> inputs) const {
        return row_.pads_input ? row_.pads_input(self_, inputs) : std::nullopt;
    }
    /// Return true if view_of_input() or pads_input() may return something, without the cost of asking for it.
    bool has_view() const { return row_.view_of_input != nullptr; }
    bool has_padding() const { return row_.pads_input != nullptr; }
    /// Returns the way in which a region op runs the bodies of its nodes; null for all other ops.
    const region_attributes* regions() const { return row_.regions ? row_.regions(self_) : nullptr; }
    /// Returns the same region op for another region_attributes, such as one with other captures.
    op_ptr with_regions(const region_attributes& use) const {
        return row_.with_regions ? row_.with_regions(use) : nullptr;
    }
    /// Returns the kind of control-flow primitive, if the op is one.
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

/// Registers the runtime of dynamic nodes, which is half of the whole runtime. Defined in link/dynamic_runtime.ipp: a header-only program
/// compiles it only if one of its ops refers to it.
void register_dynamic_runtime();

/// Makes the graph's view of an op of the compiled library. Defined in all_kernels.ipp: programs that link rill::kernels need not
/// compile that view.
template <class Op> op_ptr make_compiled_op(Op o);

} // namespace detail

}} // namespace rill::RILL_ABI

#include <rill/graph/op/op_model.hpp> // defines make_op

#if !RILL_COMPILED
#include <rill/graph/op/op.ipp>
#endif
