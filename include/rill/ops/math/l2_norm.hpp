// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <rill/ops/math/abs.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/equal.hpp>
#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce.hpp>
#include <rill/ops/math/select.hpp>
#include <rill/ops/math/sqrt.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/ops/math/sub.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

using bind_fused = kernel (*)(const fused_spec& spec, kernel_request& request);

/// A nested kernel with inputs, output and scratch memory given by the outer kernel.
class inner_kernel {
public:
    /// Binds the kernel and adds the size of its scratch memory to `scratch_bytes`.
    inner_kernel(fused_spec spec, std::span<const tensor_type> in, const tensor_type& out, std::size_t& scratch_bytes,
                 bind_fused bind);
    /// Runs the kernel. `outer`: the arguments of the outer kernel.
    void operator()(const kernel_args& outer, std::span<const void* const> in, void* out) const;

private:
    std::unique_ptr<const fused_spec> spec_; // the kernel points into it
    kernel run_;
    std::size_t scratch_at_; // offset in the outer kernel's scratch memory
};

/// A computation of norms relative to the largest magnitude, in two passes over the elements.
class scaled_norm {
public:
    scaled_norm(const fused_spec& elements, std::span<const tensor_type> in, const tensor_type& out,
                std::size_t& scratch_bytes, bind_fused bind);
    void operator()(const kernel_args& outer, std::span<const void* const> in, void* out) const;

private:
    std::size_t largest_at_, squares_at_; // offsets in the scratch memory
    inner_kernel largest_, squares_, finish_;
};

/// A second computation of the norms whose sum of squares has overflowed or underflowed.
class l2_norm_rescue {
public:
    l2_norm_rescue(const fused_spec& elements, kernel_request& request, bind_fused bind);
    /// Writes all norms; finite roots are copied.
    void operator()(const kernel_args& a) const;

private:
    std::size_t inputs_of_part_, parts_, norms_at_, bytes_; // bytes: size of the norms of one part
    std::vector<scaled_norm> norms_;                        // one per part; with several parts, one more for their total
    inner_kernel choose_;
};

} // namespace detail

/// The Euclidean norm of elements whose sum of squares is an input. It is the given root if that is finite, else a norm relative to the
/// largest magnitude. Inputs: operands of the elements, of one part or of several parts with a common norm; the sum of all squares; its
/// root, NaN if the sum is too small to be precise. Gradient: for the sum, g / (2 norm); it is g if the norm and the elements are 0.
struct l2_norm_op {
    static constexpr auto name = "L2Norm";
    static constexpr int least_inputs = 3;
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    using brings = op_list<abs_op, add_op, div_op, mul_op, square_op, sqrt_op, select_op, equal_op, greater_op, sub_op,
                           combining<combine::max>, combining<combine::sum>>;
    fused_spec spec; // the program of a part's elements and their reduction

    static void fields(auto& op, auto& visit) { visit("spec", op.spec); }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
    dtype kernel_type(std::span<const tensor_type>, std::span<const tensor_type> out) const { return out[0].type; }
    std::vector<endpoint> gradient(const gradient_request& r) const;
    /// Marks the sum of squares as unread: it is an input only for the gradient.
    static input_list shape_only_inputs(int count) { return {count - 2}; }
    /// Returns a cost without the elements, which are read in rare cases only.
    op_cost cost(std::span<const tensor_type>, std::span<const tensor_type> out) const {
        return detail::cost_of_slices(out[0]);
    }
    template <class D, class T> kernel bind(kernel_request& request) const {
        const auto bind = +[](const fused_spec& s, kernel_request& r) { return D::fused(s, r); };
        return kernel([rescue = std::make_unique<const detail::l2_norm_rescue>(spec, request, bind),
                       roots = static_cast<int>(request.inputs.size()) - 1,
                       out = request.outputs[0]](const kernel_args& a) {
            if (D::known_finite(a.in<T>(roots), out.shape.size()))
                D::copy(a.on, out.type, a.in<void>(roots), a.out<void>(0), out.shape.size());
            else
                (*rescue)(a);
        });
    }

    static op_ptr make(fused_spec spec) { return make_op(l2_norm_op{std::move(spec)}); }
};

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// A tracer that extends the program of the elements. If `grouped`, an additional last leaf holds a number for each group.
struct elements_program {
    fused_spec spec;
    tracer t;
    int element, group;

    elements_program(const fused_spec& elements, bool grouped)
        : spec(elements), t(leaf_types(elements, grouped), elements.scalars),
          group(static_cast<int>(elements.leaves.size())) {
        t.fix_scalars(elements.scalars.size());
        element = t.append(*elements.body)[static_cast<std::size_t>(elements.body->results[0])];
        const auto& how = elements.results[0].reduce;
        if (grouped)
            spec.leaves.push_back(
                {static_cast<int>(inputs_of(elements)), {combine::sum, how.axes, how.keep_dims}}); // a view
    }
    fused_spec reduced(combine how, int result) && {
        spec.body = t.finish({result});
        spec.kind = fused_spec::form::program;
        spec.scalars = t.scalars();
        spec.results[0].reduce.how = how;
        return std::move(spec);
    }

    /// Returns the number of inputs that the program reads.
    static std::size_t inputs_of(const fused_spec& elements) {
        int last = -1;
        for (const auto& l : elements.leaves) last = std::max(last, l.input);
        return static_cast<std::size_t>(last + 1);
    }

private:
    static std::vector<dtype> leaf_types(const fused_spec& elements, bool grouped) {
        std::vector<dtype> types = elements.body->leaves;
        if (grouped) types.push_back(elements.body->type_of(elements.body->results[0]));
        return types;
    }
};

/// Returns the spec of a program over leaves of one type and one shape.
template <class Build> fused_spec mapped(dtype type, int leaves, const Build& build) {
    tracer t(std::vector<dtype>(static_cast<std::size_t>(leaves), type), {});
    fused_spec spec;
    const int result = build(t);
    spec.body = t.finish({result});
    spec.kind = fused_spec::form::program;
    spec.scalars = t.scalars();
    for (int i = 0; i < leaves; ++i) spec.leaves.push_back({i, {}});
    spec.results.resize(1);
    return spec;
}

/// Emits the divisor of the elements: the largest magnitude, or 1 if that is 0 or not finite.
RILL_INLINE int scale_of(tracer& t, int largest) {
    const dtype type = t.type_of(largest);
    const int zero = t.constant(scalar_of(type, 0)), one = t.constant(scalar_of(type, 1));
    const int positive = t.emit(info_of<greater_op>, dtype::boolean, {largest, zero});
    const int finite = t.emit(info_of<equal_op>, dtype::boolean, {t.emit<sub_op>({largest, largest}), zero});
    return t.emit(info_of<select_op>, type, {positive, t.emit(info_of<select_op>, type, {finite, largest, one}), one});
}

RILL_INLINE fused_spec largest_of(const fused_spec& elements) {
    elements_program p(elements, false);
    const int magnitude = p.t.emit<abs_op>({p.element});
    return std::move(p).reduced(combine::max, magnitude);
}
RILL_INLINE fused_spec scaled_squares_of(const fused_spec& elements) {
    elements_program p(elements, true);
    const int square = p.t.emit<square_op>({p.t.emit<div_op>({p.element, scale_of(p.t, p.t.leaf(p.group))})});
    return std::move(p).reduced(combine::sum, square);
}

RILL_INLINE std::size_t reserve_scratch(std::size_t& scratch_bytes, std::size_t bytes) {
    constexpr std::size_t line = 64;
    return std::exchange(scratch_bytes, scratch_bytes + (bytes + line - 1) / line * line);
}

RILL_INLINE inner_kernel::inner_kernel(fused_spec spec, std::span<const tensor_type> in, const tensor_type& out,
                                       std::size_t& scratch_bytes, bind_fused bind)
    : spec_(std::make_unique<const fused_spec>(std::move(spec))) {
    kernel_request request{.inputs = in, .outputs = {&out, 1}};
    run_ = bind(*spec_, request);
    scratch_at_ = reserve_scratch(scratch_bytes, request.scratch_bytes);
}

RILL_INLINE void inner_kernel::operator()(const kernel_args& outer, std::span<const void* const> in, void* out) const {
    small_vector<void*, 6> slots;
    small_vector<std::int32_t, 6> numbers;
    for (const void* p : in) slots.push_back(const_cast<void*>(p)); // kernels only read their inputs
    slots.push_back(out);
    for (std::size_t i = 0; i < slots.size(); ++i) numbers.push_back(static_cast<std::int32_t>(i));
    const auto on = outer.on.with_scratch(outer.scratch<std::byte>() + scratch_at_);
    run_({slots.data(), numbers.data(), numbers.data() + in.size(), on, outer.step});
}

RILL_INLINE std::vector<tensor_type> and_one(std::span<const tensor_type> in, const tensor_type& more) {
    std::vector<tensor_type> all(in.begin(), in.end());
    all.push_back(more);
    return all;
}

RILL_COLD scaled_norm::scaled_norm(const fused_spec& elements, std::span<const tensor_type> in, const tensor_type& out,
                                   std::size_t& scratch_bytes, bind_fused bind)
    : largest_at_(reserve_scratch(scratch_bytes, out.bytes())),
      squares_at_(reserve_scratch(scratch_bytes, out.bytes())),
      largest_(largest_of(elements), in, out, scratch_bytes, bind),
      squares_(scaled_squares_of(elements), and_one(in, out), out, scratch_bytes, bind),
      finish_(mapped(out.type, 2,
                     [](tracer& t) { return t.emit<mul_op>({scale_of(t, t.leaf(0)), t.emit<sqrt_op>({t.leaf(1)})}); }),
              std::array{out, out}, out, scratch_bytes, bind) {}

RILL_INLINE void scaled_norm::operator()(const kernel_args& outer, std::span<const void* const> in, void* out) const {
    auto* const scratch = outer.scratch<std::byte>();
    void* const largest = scratch + largest_at_;
    void* const squares = scratch + squares_at_;
    std::vector<const void*> all(in.begin(), in.end());
    largest_(outer, all, largest);
    all.push_back(largest);
    squares_(outer, all, squares);
    finish_(outer, std::array<const void*, 2>{largest, squares}, out);
}

RILL_COLD l2_norm_rescue::l2_norm_rescue(const fused_spec& elements, kernel_request& request, bind_fused bind)
    : inputs_of_part_(elements_program::inputs_of(elements)), parts_((request.inputs.size() - 2) / inputs_of_part_),
      norms_at_(reserve_scratch(request.scratch_bytes, (parts_ + 1) * request.outputs[0].bytes())),
      bytes_(request.outputs[0].bytes()),
      choose_(mapped(request.outputs[0].type, 2,
                     [](tracer& t) {
                         const dtype type = t.type_of(t.leaf(0));
                         const int none = t.emit<sub_op>({t.leaf(0), t.leaf(0)}), zero = t.constant(scalar_of(type, 0));
                         const int finite = t.emit(info_of<equal_op>, dtype::boolean, {none, zero});
                         return t.emit(info_of<select_op>, type, {finite, t.leaf(0), t.leaf(1)});
                     }),
              std::array{request.outputs[0], request.outputs[0]}, request.outputs[0], request.scratch_bytes, bind) {
    const tensor_type& out = request.outputs[0];
    for (std::size_t i = 0; i < parts_; ++i)
        norms_.emplace_back(elements, request.inputs.subspan(i * inputs_of_part_, inputs_of_part_), out,
                            request.scratch_bytes, bind);
    if (parts_ > 1) {
        fused_spec along = mapped(out.type, 1, [](tracer& t) { return t.leaf(0); });
        along.results[0].reduce = {combine::sum, axis_list{0}, false};
        const tensor_type rows{out.type, {static_cast<index_t>(parts_), out.shape.size()}};
        norms_.emplace_back(along, std::span(&rows, 1), tensor_type{out.type, {out.shape.size()}},
                            request.scratch_bytes, bind);
    }
}

RILL_INLINE void l2_norm_rescue::operator()(const kernel_args& a) const {
    auto* const first = a.scratch<std::byte>() + norms_at_;
    std::byte* norms = first;
    std::vector<const void*> in;
    for (std::size_t i = 0; i < parts_; ++i, norms += bytes_) {
        in.clear();
        for (std::size_t k = 0; k < inputs_of_part_; ++k)
            in.push_back(a.in<void>(static_cast<int>(i * inputs_of_part_ + k)));
        norms_[i](a, in, norms);
    }
    if (parts_ > 1) norms_.back()(a, std::array<const void*, 1>{first}, norms);
    const void* const roots = a.in<void>(static_cast<int>(parts_ * inputs_of_part_ + 1)); // the input after the sum of squares
    choose_(a, std::array<const void*, 2>{roots, parts_ > 1 ? norms : first}, a.out<void>(0));
}

} // namespace detail

RILL_INLINE std::vector<tensor_type> l2_norm_op::outputs(std::span<const tensor_type> in) const {
    const std::size_t of_part = detail::elements_program::inputs_of(spec), given = in.size() - 2;
    if (of_part == 0 || given % of_part != 0)
        throw invalid_argument("parts of " + std::to_string(of_part) +
                               " inputs are expected, the sum of their squares and its root");
    for (std::size_t i = 0; i < given; i += of_part) {
        const auto sum = detail::fused_outputs(spec, in.subspan(i, of_part))[0];
        for (const auto& of_all : in.last(2))
            if (sum.type != of_all.type || !rules::compatible(sum.shape, of_all.shape))
                throw invalid_argument("the sum of squares and its root must be " + to_string(sum) + ", not " +
                                       to_string(of_all));
    }
    return {in.back()};
}

RILL_INLINE std::vector<endpoint> l2_norm_op::gradient(const gradient_request& r) const {
    fused_spec slope = detail::mapped(type_of(r.output(0)).type, 2, [](tracer& t) {
        const dtype type = t.type_of(t.leaf(0));
        const int zero = t.constant(detail::scalar_of(type, 0)), one = t.constant(detail::scalar_of(type, 1));
        const int at_zero = t.emit(info_of<equal_op>, dtype::boolean, {t.leaf(0), zero});
        const int twice = t.emit<add_op>({t.leaf(0), t.leaf(0)});
        return t.emit<div_op>({t.leaf(1), t.emit(info_of<select_op>, type, {at_zero, one, twice})});
    });
    std::vector<endpoint> all(r.at.inputs.size());
    all[all.size() - 2] = {
        detail::add_node(graph(*r.at.owner), make_op(fused_op{std::move(slope)}), {r.output(0), r.gradient()}), 0};
    return all;
}

}} // namespace rill::RILL_ABI
#endif
