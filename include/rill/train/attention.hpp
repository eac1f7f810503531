// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include <rill/ops/linalg/matmul.hpp>
#include <rill/ops/math/rsqrt.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/ops/nn/softmax.hpp>
#include <rill/train/recurrent.hpp>

// Attention over the states of an encoder, memory [batch, time, width]. It is called with a query [batch, n]. It returns the context
// [batch, width], a weighted mean of the memory, and the weights, the alignments [batch, time]. Variables have TensorFlow's names.

namespace rill { inline namespace RILL_ABI {

struct attention_options {
    sequence_lengths lengths = {}; // of the memory; steps after the end have weight 0
    bool scaled = false; // multiplies scores by attention_g; also normalizes Bahdanau's, with attention_b
    any_initializer kernel_initializer = {};
};

/// True for the memory of an attention: [batch, time, width], with a known width.
template <class E> inline constexpr bool is_attention_memory = E::rank == 3 && rules::extent_along(static_dims<E>, 2) != dyn;

namespace detail {

/// The memory, its keys [batch, time, Units], and the mask of its lengths.
template <index_t Units, index_t Width, class T> class attention_memory {
public:
    static constexpr index_t units = Units, width = Width;
    using value_type = T;

    template <class M>
    attention_memory(const M& memory, const attention_options& o, const std::source_location& where)
        : memory_(any_tensor(sealed(memory)), where), keys_(in_variable_scope("memory_layer", [&] {
              return matmul(memory_,
                            cell_kernel<T, Width, Units>("kernel", {Width, Units}, o.kernel_initializer, where), where);
          })) {
        if (!o.lengths) return;
        const auto ends = expand_dims<1>(checked_lengths<1, 0>(o.lengths.value(), memory_, where), where);
        present_ = expand_dims<0>(steps_along<1>(memory_, where), where) < ends;
    }

    const tensor<T, dyn, dyn, Units>& keys() const { return keys_; }
    /// Returns the context and the alignments of scores [batch, time].
    template <class S> auto read(const S& scores, const std::source_location& where) const {
        const tensor<T, dyn, dyn> all = scores;
        const auto softmax_of = [&](const tensor<T, dyn, dyn>& x) {
            return tensor<T, dyn, dyn>(any_tensor(softmax(x, where)));
        };
        // masked scores of a sequence without steps are equal: the second mask makes its weights 0
        const tensor<T, dyn, dyn> alignments =
            present_ ? tensor<T, dyn, dyn>(
                           select(present_, softmax_of(select(present_, all, std::numeric_limits<T>::lowest())), 0))
                     : softmax_of(all);
        const tensor<T, dyn, Width> context = rill::reduce_sum<1>(expand_dims<2>(alignments, where) * memory_, where);
        return std::pair(context, alignments);
    }

private:
    tensor<T, dyn, dyn, Width> memory_;
    tensor<T, dyn, dyn, Units> keys_;
    tensor<bool, dyn, dyn> present_; // null: all of it
};

} // namespace detail

/// The attention object that luong_attention returns.
template <index_t Units, index_t Width, class T> class luong_attention_of {
public:
    static constexpr index_t units = Units, width = Width;
    using value_type = T;

    template <class M>
    luong_attention_of(const variable_scope&, const M& memory, const attention_options& o,
                       const std::source_location& where)
        : memory_(memory, o, where) {
        if (o.scaled) scale_ = get_variable<T>("attention_g", ones(), {}, where);
    }

    /// Returns the context and the alignments.
    template <typed_operand Q>
    auto operator()(const Q& query, const std::source_location& where = std::source_location::current()) const {
        static_assert(is_cell_input<extents_of<Q>, Units>, "luong_attention: the query must be [batch, units]");
        const tensor<T, dyn, dyn> scores = reduce_sum<2>(memory_.keys() * expand_dims<1>(query, where), where);
        return memory_.read(scale_ ? tensor<T, dyn, dyn>(scale_ * scores) : scores, where);
    }

private:
    detail::attention_memory<Units, Width, T> memory_;
    tensor<T> scale_;
};

/// Returns Luong's multiplicative attention: auto attention = luong_attention<128>("attention", states, {.lengths = n}); auto [context,
/// alignments] = attention(query). The score of a step is query . (state memory_layer/kernel). Queries are [batch, 128].
template <index_t Units, typed_operand M>
auto luong_attention(const std::string& name, const M& memory, const attention_options& o = {},
                     const std::source_location& where = std::source_location::current()) {
    static_assert(is_attention_memory<extents_of<M>>,
                  "luong_attention: the memory must be [batch, time, width], with a known width");
    return luong_attention_of<Units, extents_of<M>::value[2], value_type_of<M>>(variable_scope(name), memory, o, where);
}

/// The attention object that bahdanau_attention returns.
template <index_t Units, index_t Query, index_t Width, class T> class bahdanau_attention_of {
public:
    static constexpr index_t units = Units, width = Width;
    using value_type = T;

    template <class M>
    bahdanau_attention_of(const variable_scope&, const M& memory, const attention_options& o,
                          const std::source_location& where)
        : memory_(memory, o, where),
          query_kernel_(detail::in_variable_scope("query_layer",
                                                  [&] {
                                                      return detail::cell_kernel<T, Query, Units>(
                                                          "kernel", {Query, Units}, o.kernel_initializer, where);
                                                  })),
          direction_(detail::cell_kernel<T, Units>("attention_v", {Units}, o.kernel_initializer, where)) {
        if (!o.scaled) return;
        const auto scale =
            get_variable<T>("attention_g", constant_initializer(std::sqrt(1 / static_cast<double>(Units))), {}, where);
        offset_ = get_variable<T, Units>("attention_b", zeros(), {}, where);
        direction_ = scale * direction_ * rsqrt(reduce_sum(square(direction_), where));
    }

    /// Returns the context and the alignments.
    template <typed_operand Q>
    auto operator()(const Q& query, const std::source_location& where = std::source_location::current()) const {
        static_assert(is_cell_input<extents_of<Q>, Query>, "bahdanau_attention: the query must be [batch, query]");
        const tensor<T, dyn, Units> asked = matmul(query, query_kernel_, where);
        const tensor<T, dyn, Units> moved = offset_ ? tensor<T, dyn, Units>(asked + offset_) : asked;
        return memory_.read(reduce_sum<2>(direction_ * tanh(memory_.keys() + expand_dims<1>(moved, where)), where),
                            where);
    }

private:
    detail::attention_memory<Units, Width, T> memory_;
    variable<T, Query, Units> query_kernel_;
    tensor<T, Units> direction_, offset_; // null unless scaled
};

/// Returns Bahdanau's additive attention with 64 units, for queries [batch, 128]: bahdanau_attention<64, 128>("attention", states,
/// {.lengths = n}). The score of a step is attention_v . tanh(state memory_layer/kernel + query query_layer/kernel).
template <index_t Units, index_t Query, typed_operand M>
auto bahdanau_attention(const std::string& name, const M& memory, const attention_options& o = {},
                        const std::source_location& where = std::source_location::current()) {
    static_assert(is_attention_memory<extents_of<M>>,
                  "bahdanau_attention: the memory must be [batch, time, width], with a known width");
    return bahdanau_attention_of<Units, Query, extents_of<M>::value[2], value_type_of<M>>(variable_scope(name), memory,
                                                                                          o, where);
}

/// A cell with attention: attention_cell<128>("decoder", cell, attention). Its input is concatenated with the last attention [batch, Size].
/// The inner cell's output is the query. The output is [output, context] attention_layer/kernel, which is also the next attention. The
/// state is std::tuple(state of the cell, attention). The inner cell takes inputs of the input's width plus Size.
template <index_t Size, class C, class A>
class attention_cell_of : public detail::cell_states<attention_cell_of<Size, C, A>> {
public:
    using value_type = typename C::value_type;
    static constexpr index_t inputs = C::inputs == dyn ? dyn : C::inputs - Size, outputs = Size;
    static_assert(C::inputs == dyn || C::inputs > Size,
                  "attention_cell: the cell must take the input and the attention");

    attention_cell_of(const std::string& name, C cell, A attention, const std::source_location& where)
        : cell_(std::move(cell)), attention_(std::move(attention)),
          kernel_(detail::in_variable_scope(name.c_str(), [&] {
              return detail::in_variable_scope("attention_layer", [&] {
                  return detail::cell_kernel<value_type, detail::sum_of_extents(C::outputs, A::width), Size>(
                      "kernel", {cell_.output_size() + A::width, Size}, {}, where);
              });
          })) {}

    index_t input_size() const { return cell_.input_size() - Size; }
    index_t output_size() const { return Size; }

    /// Returns the output and the next state.
    template <graph_operand X, class S, typed_operand P>
    auto operator()(const X& x, const std::tuple<S, P>& state,
                    const std::source_location& where = std::source_location::current()) const {
        const auto in = detail::cell_input<value_type, inputs>(x, where);
        const auto [output, next] = cell_(concat<1>(in, std::get<1>(state), where), std::get<0>(state), where);
        const auto [context, alignments] = attention_(output, where);
        const tensor attended = matmul(concat<1>(output, context, where), kernel_, where);
        return std::pair(attended, std::tuple(next, attended));
    }
    /// Returns the state with f(h) in place of each h of the cell.
    template <class F, class S, class P> auto with_hidden(const F& f, const std::tuple<S, P>& state) const {
        return std::tuple(cell_.with_hidden(f, std::get<0>(state)), std::get<1>(state));
    }
    template <class B> auto zeros_of(const B& batch, const std::source_location& where) const {
        return std::tuple(cell_.zeros_of(batch, where), detail::zero_rows<value_type, Size>(Size, batch, where));
    }
    /// Returns the first state of a decoder: the state of the inner cell and an attention of zeros.
    template <class S>
    auto state_of(const S& cell_state, const std::source_location& where = std::source_location::current()) const {
        const detail::handle_type<S> all = cell_state;
        const any_tensor part = first_part(all);
        return std::tuple(all, detail::zero_rows<value_type, Size>(Size, detail::extent_of<0>(part, where), where));
    }

private:
    template <class S> static any_tensor first_part(const S& state) {
        if constexpr (detail::is_tuple<S>)
            return first_part(std::get<0>(state));
        else
            return any_tensor(state);
    }

    C cell_;
    A attention_;
    variable<value_type, detail::sum_of_extents(C::outputs, A::width), Size> kernel_;
};
template <index_t Size, class C, class A>
auto attention_cell(const std::string& name, const C& cell, const A& attention,
                    const std::source_location& where = std::source_location::current()) {
    return attention_cell_of<Size, C, A>(name, cell, attention, where);
}

}} // namespace rill::RILL_ABI
