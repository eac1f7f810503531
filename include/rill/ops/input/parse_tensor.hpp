// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/io/tensor_message.hpp>
#include <rill/link/dynamic_runtime.hpp>
#include <rill/ops/string/text.hpp>

namespace rill { inline namespace RILL_ABI {

/// Parses a tensor from the bytes of a TensorProto. The run determines its shape.
struct parse_tensor_op {
    static constexpr auto name = "ParseTensor", label = "parse_tensor";
    static constexpr int inputs = 1;
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    static constexpr bool has_dynamic_outputs = true;
    static constexpr auto no_gradient = "bytes do not change smoothly";
    dtype out_type = dtype::float32;
    dims shape;

    static void fields(auto& op, auto& visit) {
        visit("out_type", op.out_type);
        visit("shape", op.shape);
    }
    input_list host_inputs() const { return {0}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request&) const { return bound(); }

private:
    kernel bound() const;
};

/// Serializes a tensor to the bytes of a TensorProto, which tf.parse_tensor reads.
struct serialize_tensor_op {
    static constexpr auto name = "SerializeTensor", label = "serialize_tensor";
    static constexpr int inputs = 1;
    using domain_type = domains::untyped;
    using compiled_types = types::untyped;
    static constexpr auto no_gradient = "bytes do not change smoothly";

    input_list host_inputs() const { return {0}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const { return {{dtype::string, dims{}}}; }
    template <class D, class T> kernel bind(kernel_request& r) const { return bound(r); }

private:
    static kernel bound(const kernel_request& r);
};

/// Parses a tensor of type T with the given extents from a string of rank 0: parse_tensor<float, dyn, 4>(bytes).
template <element T, index_t... D, graph_operand X>
tensor<T, D...> parse_tensor(const X& bytes, const std::source_location& where = std::source_location::current()) {
    return {detail::unchecked, apply_node(parse_tensor_op{dtype_of<T>, dims{D...}}, where, bytes)};
}
/// Returns the bytes of a tensor as a TensorProto.
template <graph_operand X>
tensor<std::string> serialize_tensor(const X& x, const std::source_location& where = std::source_location::current()) {
    return {detail::unchecked, apply_node(serialize_tensor_op{}, where, x)};
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_COLD std::vector<tensor_type> parse_tensor_op::outputs(std::span<const tensor_type> in) const {
    detail::check_text(in[0], "the bytes");
    if (in[0].shape.known_rank() && in[0].shape.rank != 0)
        throw invalid_argument("the bytes must be a string of rank 0, not " + to_string(in[0]));
    if (out_type == dtype::invalid) throw invalid_argument("the result has no type");
    return {{out_type, shape}};
}

RILL_INLINE kernel parse_tensor_op::bound() const {
    return kernel([wanted = tensor_type{out_type, shape}](const kernel_args& a) {
        any_array made = parse_tensor_bytes(*a.in<std::string>(0));
        if (made.dtype() != wanted.type || !rules::compatible(made.shape(), wanted.shape))
            throw invalid_argument("the bytes are a tensor of " + to_string(made.type()) + ", expected is " +
                                   to_string(wanted));
        a.sized[0] = std::move(made);
    });
}

RILL_INLINE kernel serialize_tensor_op::bound(const kernel_request& r) {
    return kernel(
        [type = r.inputs[0]](const kernel_args& a) { *a.out<std::string>(0) = tensor_bytes(a.array(type, 0)); });
}

}} // namespace rill::RILL_ABI
#endif
