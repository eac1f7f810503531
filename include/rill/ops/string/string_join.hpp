// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/vector.hpp>
#include <rill/ops/string/text.hpp>

namespace rill { inline namespace RILL_ABI {

/// Texts joined element by element, with a separator between them. Shape: all broadcast.
struct string_join_op {
    static constexpr auto name = "StringJoin";
    static constexpr int least_inputs = 1;
    using domain_type = domains::text;
    using compiled_types = types::text;
    static constexpr auto no_gradient = "text does not change smoothly";
    std::string separator;

    static void fields(auto& op, auto& visit) { visit("separator", op.separator); }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    template <class D, class T> kernel bind(kernel_request& request) const {
        const dims& to = request.outputs[0].shape;
        detail::vector<detail::stretched_places> places;
        for (const auto& t : request.inputs) places.push_back({t.shape, to});
        return kernel([n = to.size(), places = std::move(places), separator = separator](const kernel_args& a) {
            for (index_t i = 0; i < n; ++i) {
                T text = a.in<T>(0)[places[0](i)];
                for (std::size_t k = 1; k < places.size(); ++k)
                    text.append(separator).append(a.in<T>(static_cast<int>(k))[places[k](i)]);
                a.out<T>(0)[i] = std::move(text);
            }
        });
    }
};

namespace detail {

template <class... X> auto string_join(const std::string& separator, const X&... x) {
    if constexpr ((typed_operand<X> && ...))
        static_assert((op_takes<string_join_op, value_type_of<X>> && ...),
                      "string_join: the element type is not string; convert with as_string");
    constexpr auto rule = [](const dims& first, const auto&... more) {
        shape_result r{first};
        ((r = r.ok() ? rules::broadcast(r.shape, more) : r), ...);
        return r;
    };
    return apply_node<std::string, std::string>(string_join_op{separator}, rule, {}, x...);
}

} // namespace detail

/// Returns joined texts: string_join(a, b, …), or with a separator first: string_join("/", a, b, …).
template <graph_operand... X>
    requires(sizeof...(X) > 0)
auto string_join(const X&... x) {
    return detail::string_join({}, x...);
}
template <graph_operand... X>
    requires(sizeof...(X) > 0)
auto string_join(const std::string& separator, const X&... x) {
    return detail::string_join(separator, x...);
}
/// Overload for a number of tensors known only at run time.
template <class... Unused> // a template, so that only programs that call it have its kernels
any_tensor string_join(const std::vector<any_tensor>& all, const std::string& separator = {},
                       const std::source_location& where = std::source_location::current()) {
    if (all.empty()) throw invalid_argument("string_join: no tensors were given");
    detail::require_kernel_for<string_join_op, std::string>();
    endpoint_list inputs;
    for (const auto& x : all) inputs.push_back(detail::seal(x));
    return endpoint{
        detail::add_node(all[0].graph(), make_op(string_join_op{separator}), std::move(inputs), {}, false, where), 0};
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> string_join_op::outputs(std::span<const tensor_type> in) const {
    for (const auto& t : in) detail::check_text(t, "what is joined");
    return {{dtype::string, detail::stretched_shape(in)}};
}

}} // namespace rill::RILL_ABI
#endif
