// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <rill/graph/op/op.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

template <class Op> constexpr input_bounds bounds_of() {
    if constexpr (requires { Op::inputs; })
        return {Op::inputs, Op::inputs};
    else if constexpr (requires { Op::least_inputs; })
        return {Op::least_inputs};
    else if constexpr (requires(const Op& o, const dims& d) { o.shape(d); })
        return {1, 1};
    else if constexpr (requires(const Op& o, const dims& d) { o.shape(d, d); })
        return {2, 2};
    else
        return {};
}
/// True if nodes of the op are dynamic (op::is_dynamic).
template <class Op>
constexpr bool has_dynamic_nodes = requires(const Op& o) { o.regions(); } || requires(const Op& o) { o.flow(); } ||
                                   requires { Op::is_async; } || requires { Op::has_dynamic_outputs; };
template <class Op> constexpr bool has_gradient = requires(const Op& o, const gradient_request& r) { o.gradient(r); };

template <class Op> class op_model;

template <class Op> constexpr const Op& as(const void* self) { return *static_cast<const Op*>(self); }

/// Returns the definition of an op from its struct. Members that the struct leaves out keep their defaults.
template <class Op> constexpr op_def row_of() {
    static_assert(
        has_gradient<Op> || requires { Op::no_gradient; },
        "an op states its gradient, or why it has none (static constexpr const char* no_gradient)");
    static_assert(
        std::is_empty_v<Op> || requires(Op& o, field_visitor& v) { Op::fields(o, v); },
        "an op with fields shows them: static void fields(auto& op, auto& visit) { visit(\"axis\", op.axis); }");
    using types = std::span<const tensor_type>;
    op_def r;
    r.name = Op::name;
    r.struct_name = type_name<Op>();
    r.version = op_version<Op>;
    r.inputs = bounds_of<Op>();
    r.untyped = op_takes<Op, void>;
    r.takes_handle = requires { Op::takes_handle; };
    r.destroy = [](const op* made) { delete static_cast<const op_model<Op>*>(made); };
    if constexpr (requires { Op::alias; }) r.alias = Op::alias;
    if constexpr (requires { Op::updates; }) r.updates = Op::updates;
    if constexpr (requires { Op::colocated_input; }) r.colocated_input = Op::colocated_input;
    if constexpr (requires { Op::role; }) r.role = Op::role;
    if constexpr (requires { Op::ordering; }) r.ordering = Op::ordering;
    if constexpr (requires(const Op& o) { o.ordering_of(); })
        r.ordering_of = [](const void* self) -> step_ordering { return as<Op>(self).ordering_of(); };
    if constexpr (requires { Op::stateful; }) r.stateful = Op::stateful;
    if constexpr (requires { Op::initialises; }) r.initialises = Op::initialises;
    if constexpr (requires { Op::replaces_variables; }) r.replaces_variables = Op::replaces_variables;
    if constexpr (requires { Op::reads_slices_of; }) r.reads_slices_of = Op::reads_slices_of;
    if constexpr (requires { Op::has_dynamic_outputs; }) r.has_dynamic_outputs = Op::has_dynamic_outputs;
    if constexpr (requires { Op::is_async; }) r.is_async = Op::is_async;
    if constexpr (requires { Op::consumes; }) r.consumes = Op::consumes;
    if constexpr (requires { Op::takes_ownership; }) r.takes_ownership = Op::takes_ownership;

    if constexpr (requires(const Op& o, const known_inputs& in) { o.outputs(in); })
        r.outputs = [](const void* self, const known_inputs& in) { return as<Op>(self).outputs(in); };
    else if constexpr (requires(const Op& o, types in) { o.outputs(in); })
        r.outputs = [](const void* self, const known_inputs& in) { return as<Op>(self).outputs(in.types); };
    else if constexpr (requires(const Op& o, const dims& x) { o.shape(x); })
        r.shape_of_one = [](const void* self, const dims& x) { return as<Op>(self).shape(x); };
    else
        r.shape_of_two = [](const void* self, const dims& x, const dims& y) { return as<Op>(self).shape(x, y); };
    if constexpr (has_gradient<Op>)
        r.gradient = [](const void* self, const gradient_request& request) { return as<Op>(self).gradient(request); };
    else
        r.no_gradient = Op::no_gradient;
    if constexpr (requires(const Op& o) { o.signature(); })
        r.signature = [](const void* self) -> std::string_view { return as<Op>(self).signature(); };
    if constexpr (requires(const Op& o) { o.label(); })
        r.made_label = [](const void* self) -> std::string { return as<Op>(self).label(); };
    else if constexpr (requires { std::string(Op::label); })
        r.label = Op::label;
    if constexpr (requires(const Op& o, types t) { o.kernel_type(t, t); })
        r.kernel_type = [](const void* self, types in, types out) { return as<Op>(self).kernel_type(in, out); };
    if constexpr (requires(const Op& o) { o.writes(); })
        r.writes = [](const void* self) -> input_list { return as<Op>(self).writes(); };
    if constexpr (requires(const Op& o) { o.may_be_uninitialized(); })
        r.may_be_uninitialized = [](const void* self) -> input_list { return as<Op>(self).may_be_uninitialized(); };
    if constexpr (requires(const Op& o) { o.host_inputs(); })
        r.host_inputs = [](const void* self) -> input_list { return as<Op>(self).host_inputs(); };
    if constexpr (requires(const Op& o) { o.delivers_to_device(); })
        r.delivers_to_device = [](const void* self) -> bool { return as<Op>(self).delivers_to_device(); };
    if constexpr (requires(const Op& o) { o.shape_inputs(); })
        r.shape_inputs = [](const void* self) -> input_list { return as<Op>(self).shape_inputs(); };
    if constexpr (requires(const Op& o) { o.shape_only_inputs(0); })
        r.shape_only_inputs = [](const void* self, int count) -> input_list {
            return as<Op>(self).shape_only_inputs(count);
        };
    else if constexpr (requires(const Op& o) { o.shape_only_inputs(); })
        r.shape_only_inputs = [](const void* self, int) -> input_list { return as<Op>(self).shape_only_inputs(); };
    if constexpr (requires(const Op& o, types t) { o.cost(t, t); })
        r.cost = [](const void* self, types in, types out) -> op_cost { return as<Op>(self).cost(in, out); };
    if constexpr (requires(const Op& o) { o.constant(); })
        r.constant = [](const void* self) -> const any_array& { return as<Op>(self).constant(); };
    if constexpr (requires(const Op& o, types in) { o.known(in); })
        r.known = [](const void* self, types in) -> any_array { return as<Op>(self).known(in); };
    if constexpr (requires(const Op& o) { o.seed; })
        r.seed = [](const void* self) -> std::uint64_t { return as<Op>(self).seed; };
    if constexpr (requires(const Op& o) { o.in_place(); })
        r.in_place = [](const void* self) { return as<Op>(self).in_place(); };
    if constexpr (requires(const Op& o) { o.place; })
        r.resource_place = [](const void* self) -> const resource_name& { return as<Op>(self).place; };
    if constexpr (requires(const Op& o) { o.in_place_updates; })
        r.updates_in_place = [](const void* self) -> bool { return as<Op>(self).in_place_updates; };
    if constexpr (requires(const Op& o) { o.fused(); })
        r.fused = [](const void* self) -> const fused_spec* { return as<Op>(self).fused(); };
    if constexpr (requires(const Op& o, types in) { o.view_of_input(in); })
        r.view_of_input = [](const void* self, types in) -> std::optional<strided_view> {
            return as<Op>(self).view_of_input(in);
        };
    if constexpr (requires(const Op& o, types in) { o.pads_input(in); })
        r.pads_input = [](const void* self, types in) -> std::optional<padded_view> {
            return as<Op>(self).pads_input(in);
        };
    if constexpr (requires(const Op& o) { o.regions(); }) {
        r.regions = [](const void* self) -> const region_attributes* { return as<Op>(self).regions(); };
        r.with_regions = [](const region_attributes& use) { return shared(new op_model<Op>(Op{use})); };
    }
    if constexpr (requires(const Op& o) { o.flow(); }) {
        r.flow = [](const void* self) -> control_flow_kind { return as<Op>(self).flow(); };
        r.functional_ops = &Op::functional_ops; // from the base flow_primitive
    }
    if constexpr (has_dynamic_nodes<Op>) r.register_runtime = &register_dynamic_runtime;
    if constexpr (requires(const Op& o, const op& producer) { o.fold_operands(0, producer); })
        r.fold_operands = [](const void* self, int i, const op& producer) {
            const auto other = as<Op>(self).fold_operands(i, producer);
            return other ? shared(new op_model<Op>(*other)) : nullptr;
        };
    if constexpr (requires(const Op& o, const fused_spec& next, types in) { o.fuse_epilogue(next, in); })
        r.fuse_epilogue = [](const void* self, const fused_spec& next, types in) {
            const auto other = as<Op>(self).fuse_epilogue(next, in);
            return other ? shared(new op_model<std::remove_cvref_t<decltype(*other)>>(*other)) : nullptr;
        };
    if constexpr (requires(Op& o, field_visitor& v) { Op::fields(o, v); })
        r.fields = [](const void* self, field_visitor& visit) { Op::fields(const_cast<Op&>(as<Op>(self)), visit); };
    return r;
}

template <class Op> inline constexpr op_def the_row = row_of<Op>();

/// The type-erased form of an op's struct.
template <class Op> class op_model final : public op {
public:
    explicit op_model(Op o) : op(the_row<Op>, &own_), own_(std::move(o)) {}

private:
    Op own_;
};

} // namespace detail

template <class Op>
    requires(!std::is_convertible_v<const Op&, std::string_view>)
op_ptr make_op(Op o) {
    if constexpr (RILL_COMPILED && detail::is_in_library<Op>)
        return detail::make_compiled_op(std::move(o));
    else
        return detail::shared(new detail::op_model<Op>(std::move(o)));
}

}} // namespace rill::RILL_ABI
