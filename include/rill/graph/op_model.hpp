// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <rill/graph/op.hpp>

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
template <class Op> constexpr bool has_gradient = requires(const Op& o, const gradient_request& r) { o.gradient(r); };

/// The type-erased form of an op's struct. What the struct leaves out gets the usual meaning.
template <class Op> class op_model final : public op {
    static_assert(
        has_gradient<Op> || requires { Op::no_gradient; },
        "an op states its gradient, or why it has none (static constexpr const char* no_gradient)");

public:
    static_assert(
        std::is_empty_v<Op> || requires(Op& o, field_visitor& v) { Op::fields(o, v); },
        "an op with fields shows them: static void fields(auto& op, auto& visit) { visit(\"axis\", op.axis); }");

    explicit op_model(Op o) : self_(std::move(o)) {}

    std::string_view name() const override {
        if constexpr (requires { self_.signature(); })
            return self_.signature();
        else
            return Op::name;
    }
    std::string_view kernel_name() const override { return Op::name; }
    std::string_view struct_name() const override { return type_name<Op>(); }
    int version() const override { return op_version<Op>; }
    std::string label() const override {
        if constexpr (requires { self_.label(); })
            return self_.label();
        else if constexpr (requires { std::string(Op::label); })
            return Op::label;
        else
            return snake_case(Op::name);
    }
    bool stateful() const override {
        if constexpr (requires { Op::stateful; })
            return Op::stateful;
        else if constexpr (requires { self_.regions(); })
            return self_.regions()->effects;
        else
            return false;
    }
    std::vector<tensor_type> outputs(const known_inputs& in) const override {
        check_count(bounds_of<Op>(), in.types.size());
        if constexpr (requires { Op::takes_handle; }) check_handle(in.types);
        if constexpr (requires { self_.outputs(in); }) {
            return self_.outputs(in);
        } else if constexpr (requires { self_.outputs(in.types); }) {
            return self_.outputs(in.types);
        } else if constexpr (requires { self_.shape(in.types[0].shape); }) {
            return {{in.types[0].type, checked(self_.shape(in.types[0].shape))}};
        } else {
            if (in.types[0].type != in.types[1].type)
                throw invalid_argument("the dtypes differ: " + to_string(in.types[0]) + " and " +
                                       to_string(in.types[1]));
            return {{in.types[0].type, checked(self_.shape(in.types[0].shape, in.types[1].shape))}};
        }
    }
    std::vector<endpoint> gradient(const gradient_request& r) const override {
        if constexpr (has_gradient<Op>)
            return self_.gradient(r);
        else
            return {};
    }
    const char* no_gradient_reason() const override {
        if constexpr (has_gradient<Op>)
            return nullptr;
        else
            return Op::no_gradient;
    }
    dtype kernel_type(std::span<const tensor_type> in, std::span<const tensor_type> out) const override {
        if constexpr (requires { self_.kernel_type(in, out); })
            return self_.kernel_type(in, out);
        else if constexpr (op_takes<Op, void>)
            return dtype::invalid;
        else
            return in.empty() ? (out.empty() ? dtype::invalid : out[0].type) : in[0].type;
    }
    int alias() const override {
        if constexpr (requires { Op::alias; })
            return Op::alias;
        else
            return -1;
    }
    input_list writes() const override {
        if constexpr (requires { self_.writes(); })
            return self_.writes();
        else if constexpr (requires { self_.regions(); })
            return self_.regions()->writes();
        else
            return {};
    }
    input_list may_lack_value() const override {
        if constexpr (requires { self_.may_lack_value(); })
            return self_.may_lack_value();
        else
            return {};
    }
    input_list host_inputs() const override {
        if constexpr (requires { self_.host_inputs(); })
            return self_.host_inputs();
        else
            return {};
    }
    bool initialises() const override {
        if constexpr (requires { Op::initialises; })
            return Op::initialises;
        else
            return false;
    }
    op_role role() const override {
        if constexpr (requires { Op::role; })
            return Op::role;
        else
            return op_role::ordinary;
    }
    const any_array* constant() const override {
        if constexpr (requires { self_.constant(); })
            return &self_.constant();
        else
            return nullptr;
    }
    any_array known([[maybe_unused]] std::span<const tensor_type> in) const override {
        if constexpr (requires { self_.known(in); })
            return self_.known(in);
        else
            return {};
    }
    std::uint64_t seed() const override {
        if constexpr (requires { self_.seed; })
            return self_.seed;
        else
            return 0;
    }
    bool in_place() const override {
        if constexpr (requires { self_.in_place(); })
            return self_.in_place();
        else
            return false;
    }
    int updates() const override {
        if constexpr (requires { Op::updates; })
            return Op::updates;
        else
            return -1;
    }
    bool sizes_itself() const override {
        if constexpr (requires { Op::sizes_itself; })
            return Op::sizes_itself;
        else
            return false;
    }
    bool waits() const override {
        if constexpr (requires { Op::waits; })
            return Op::waits;
        else
            return false;
    }
    bool keeps_operands() const override {
        if constexpr (requires { Op::keeps_operands; })
            return Op::keeps_operands;
        else
            return false;
    }
    step_ordering ordering() const override {
        if constexpr (requires { Op::ordering; })
            return Op::ordering;
        else
            return step_ordering::none;
    }
    resource_name resource_place() const override {
        if constexpr (requires { self_.place; })
            return self_.place;
        else
            return {};
    }
    bool updates_in_place() const override {
        if constexpr (requires { self_.in_place_updates; })
            return self_.in_place_updates;
        else
            return false;
    }
    const fused_spec* fused() const override {
        if constexpr (requires { self_.fused(); })
            return self_.fused();
        else
            return nullptr;
    }
    const region_use* regions() const override {
        if constexpr (requires { self_.regions(); })
            return self_.regions();
        else
            return nullptr;
    }
    op_ptr with_regions([[maybe_unused]] const region_use& use) const override {
        if constexpr (requires { self_.regions(); })
            return shared(new op_model(Op{use}));
        else
            return nullptr;
    }
    flow_use flow() const override {
        if constexpr (requires { self_.flow(); })
            return self_.flow();
        else
            return {};
    }
    op_ptr absorb(int i, const op& producer) const override {
        if constexpr (requires { self_.absorb(i, producer); }) {
            const auto other = self_.absorb(i, producer);
            return other ? shared(new op_model(*other)) : nullptr;
        } else {
            return nullptr;
        }
    }
    void fields(field_visitor& visit) const override {
        if constexpr (requires(Op& o) { Op::fields(o, visit); }) Op::fields(const_cast<Op&>(self_), visit);
    }
    const void* attributes() const override { return &self_; }

private:
    static dims checked(const shape_result& r) {
        if (!r.ok()) throw invalid_argument(r.broken);
        return r.shape;
    }

    Op self_;
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
