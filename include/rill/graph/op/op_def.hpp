// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
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
#include <rill/core/strided_view.hpp>
#include <rill/graph/op/control_flow_kind.hpp>
#include <rill/graph/op/fields.hpp>
#include <rill/graph/op/known_inputs.hpp>
#include <rill/graph/op/region_attributes.hpp>

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
    bool colocate = false; // the nodes of a gradient run on the device of the node that it is the gradient of
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

/// The work of one run of an op, from which a device's speed makes a time.
struct op_cost {
    double flops = 0; // arithmetic operations on elements
    double bytes = 0; // memory traffic
};

namespace detail {

/// Returns the bytes of all elements. Shapes must be complete.
inline double total_bytes(std::span<const tensor_type> types) {
    double bytes = 0;
    for (const auto& t : types) bytes += static_cast<double>(t.bytes());
    return bytes;
}

/// Returns the cost of an op that reads and writes only these slices of its larger operands.
inline op_cost cost_of_slices(const tensor_type& slices) { return {0, 2 * static_cast<double>(slices.bytes())}; }

} // namespace detail

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
    int alias = -1, updates = -1, reads_slices_of = -1, colocated_input = -1;
    op_role role = op_role::ordinary;
    step_ordering ordering = step_ordering::none;
    bool takes_handle = false, stateful = false, untyped = false, initialises = false, replaces_variables = false,
         has_dynamic_outputs = false, is_async = false, takes_ownership = false, consumes = false;

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
    step_ordering (*ordering_of)(const void* self) = nullptr; // null: `ordering`
    input_list (*writes)(const void* self) = nullptr;
    input_list (*may_be_uninitialized)(const void* self) = nullptr;
    input_list (*host_inputs)(const void* self) = nullptr;
    bool (*delivers_to_device)(const void* self) = nullptr;
    input_list (*shape_inputs)(const void* self) = nullptr;
    input_list (*shape_only_inputs)(const void* self, int count) = nullptr;
    op_cost (*cost)(const void* self, std::span<const tensor_type> inputs,
                    std::span<const tensor_type> outputs) = nullptr;
    const any_array& (*constant)(const void* self) = nullptr;
    any_array (*known)(const void* self, std::span<const tensor_type> inputs) = nullptr;
    std::uint64_t (*seed)(const void* self) = nullptr;
    bool (*in_place)(const void* self) = nullptr;
    const resource_name& (*resource_place)(const void* self) = nullptr;
    bool (*updates_in_place)(const void* self) = nullptr;
    const fused_spec* (*fused)(const void* self) = nullptr;
    std::optional<strided_view> (*view_of_input)(const void* self, std::span<const tensor_type> inputs) = nullptr;
    std::optional<padded_view> (*pads_input)(const void* self, std::span<const tensor_type> inputs) = nullptr;
    const region_attributes* (*regions)(const void* self) = nullptr;
    op_ptr (*with_regions)(const region_attributes& use) = nullptr;
    control_flow_kind (*flow)(const void* self) = nullptr;
    flow_ops (*functional_ops)() = nullptr;
    void (*register_runtime)() = nullptr;
    op_ptr (*fold_operands)(const void* self, int i, const op& producer) = nullptr;
    op_ptr (*fuse_epilogue)(const void* self, const fused_spec& next, std::span<const tensor_type> in) = nullptr;
    void (*fields)(const void* self, field_visitor& visit) = nullptr;
};

} // namespace detail

}} // namespace rill::RILL_ABI
