// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <source_location>
#include <vector>

#include <rill/core/vector.hpp>
#include <rill/expr/fused_op.hpp>
#include <rill/expr/structure_program.hpp>

namespace rill { inline namespace RILL_ABI {

template <class T, index_t... D> class tensor;

/// The largest weight of an expression, in ops. Beyond it, parts of the expression are deferred, so that types stay small.
inline constexpr int weight_limit = 24;

/// A number among tensors, which is data and not part of a type.
template <class T> struct scalar {
    T value;
    friend bool operator==(const scalar&, const scalar&) = default;
};

namespace detail {

/// Returns a number that identifies one sealing of a whole expression.
std::uint64_t next_sealing();

/// The data that sealing gathers from an expression: leaves and scalars in order of occurrence, and their graph.
struct sealing {
    graph home;
    endpoint_list leaves;
    vector<scalar_value> scalars;
    std::uint64_t pass;         // number of the outermost sealing, within which scopes are constant
    std::source_location where; // location of the caller; may be unknown

    explicit sealing(const graph& g, std::uint64_t pass_ = next_sealing());
    ~sealing();

    /// Adds a leaf. Throws failed_precondition if its handle is null.
    void leaf(const endpoint& e);
    void scalar(const scalar_value& value);
};

/// A part of an expression whose type is hidden. It is sealed with its parent, once per graph and scope.
class deferred_part {
public:
    virtual ~deferred_part() = default;
    virtual const graph_state* home() const = 0;
    virtual endpoint seal(const graph& g, std::uint64_t pass) = 0;
};

template <class T, class E> struct operand_with;
template <class T, index_t... D> struct operand_with<T, extents<D...>> {
    using type = operand<T, D...>;
};

template <class X> inline constexpr int weight_of = 0;

template <class... Extents> struct broadcast_rule {
    static constexpr dims broadcast(std::initializer_list<dims> shapes) {
        dims r;
        for (const auto& s : shapes) r = rules::broadcast(r, s).shape;
        return r;
    }
    static constexpr dims value = broadcast({static_dims<Extents>...});
};

template <class A> struct operand_value {
    using type = typename A::value_type;
};
template <class T> struct operand_value<scalar<T>> {
    using type = T;
};

template <class Op, class... Args>
using expression_base = typename operand_with<elementwise_result<Op, typename operand_value<Args>::type...>,
                                              extents_of_rule<broadcast_rule<extents_of<Args>...>>>::type;

} // namespace detail

/// An unsealed expression: an elementwise op over handles, constants, numbers and other expressions. Building one
/// allocates nothing and touches no graph.
template <class Op, class... Args> class expression : public detail::expression_base<Op, Args...> {
public:
    using op_type = Op;

    explicit expression(const Args&... args) : args_(args...) {}

    const detail::plain_tuple<Args...>& args() const noexcept { return args_; }

    /// Computes the expression in the default session (see session_scope).
    template <class... Feeds> auto eval(Feeds&&... feeds) const;

    /// Returns a row, an element or a block of the sealed expression. Defined in ops/array/subscript.hpp.
    template <class... I>
        requires(sizeof...(I) > 0)
    auto operator()(const I&... at) const;

private:
    detail::plain_tuple<Args...> args_;
};

/// A placeholder for a part of an expression that was too heavy to stay in its type.
template <class T, index_t... D> class deferred : public operand<T, D...> {
public:
    explicit deferred(std::shared_ptr<detail::deferred_part> part) : part_(std::move(part)) {}
    detail::deferred_part& part() const noexcept { return *part_; }

private:
    std::shared_ptr<detail::deferred_part> part_;
};

namespace detail {

template <class Op, class... Args>
inline constexpr int weight_of<expression<Op, Args...>> = (op_weight<Op> + ... + weight_of<Args>);

// ---- the structure of an expression: types stripped of extents and kinds of handles -------------------------------------

template <class A> struct strip {
    using type = leaf<typename A::value_type>;
};
template <class T> struct strip<scalar<T>> {
    using type = scalar_leaf<T>;
};
template <class Op, class... Args> struct strip<expression<Op, Args...>> {
    using type = structure<Op, typename expression<Op, Args...>::value_type, typename strip<Args>::type...>;
};

inline namespace RILL_ISA {

template <class S> struct require_ops {
    static void run() {}
};
template <class Op, class R, class... Args> struct require_ops<structure<Op, R, Args...>> {
    static void run() {
        if constexpr (has_pullback<Op>) require_primitive<Op, typename Args::value_type...>();
        (require_ops<Args>::run(), ...);
    }
};

/// Compiles the kernels of an expression's structure, and those of its derivatives, into the program.
template <class S> void require_structure() {
    require_fused();
    require_expression<S>();
    require_ops<S>::run();
    if constexpr (differentiable_structure<S>) require_combiner<combine::sum, typename S::value_type>();
}

} // namespace RILL_ISA

// ---- the graph of an expression ------------------------------------------------------------------------------------------

template <class A> const graph_state* home_of(const A& a) {
    if constexpr (requires { a.end(); })
        return a.end() ? a.end().from->owner : nullptr;
    else if constexpr (requires { a.part(); })
        return a.part().home();
    else
        return nullptr;
}
template <class Op, class... Args> const graph_state* home_of(const expression<Op, Args...>& e) {
    const graph_state* found = nullptr;
    spread([&](const auto&... a) { ((found = found ? found : home_of(a)), ...); }, e.args());
    return found;
}
/// Returns the graph that was found, or the current graph if that is null.
graph graph_or_current(const graph_state* found);

template <class E> graph graph_of_operand(const E& e) { return graph_or_current(home_of(e)); }

// ---- gathering -------------------------------------------------------------------------------------------------------------

template <class A> void gather_leaves(const A& a, sealing& s) {
    if constexpr (requires { a.end(); }) {
        s.leaf(a.end());
    } else if constexpr (requires { a.join(s.home); }) {
        s.leaf(a.join(s.home));
    } else {
        s.leaf(a.part().seal(s.home, s.pass));
    }
}
template <class T> void gather_leaves(const scalar<T>& a, sealing& s) { s.scalar(scalar_value(a.value)); }
template <class Op, class... Args> void gather_leaves(const expression<Op, Args...>& e, sealing& s) {
    spread([&](const auto&... a) { (gather_leaves(a, s), ...); }, e.args());
}

/// Returns the spec that nodes of a structure have in common: its program and scalars, with one mapped result.
fused_spec spec_without_leaves(const traced_structure& traced, const sealing& s);

/// Adds a node for a program over gathered leaves. Equal leaves become one input.
endpoint add_expression(const traced_structure& traced, const sealing& s, const reduction& how, make_fused make,
                        const std::string& name, bool share, const std::source_location& where);

/// Returns the edge. Throws failed_precondition if it is null.
const endpoint& checked(const endpoint& e, const std::source_location& where = {});
template <class X> bool is_null(const X& x) {
    if constexpr (requires { x.end(); })
        return !x.end();
    else
        return false;
}
/// Returns the edge of a handle, or null for other operands.
template <class X> endpoint edge_of(const X& x) {
    if constexpr (requires { x.end(); })
        return x.end();
    else
        return {};
}
/// Throws failed_precondition: an operand of `who` is null. refuse_null_beside names the other operands instead of a source location.
[[noreturn]] void refuse_null(std::string_view who, const std::source_location& where = {});
[[noreturn]] void refuse_null_beside(std::string_view who, std::span<const endpoint> operands);

template <class E> inline constexpr bool is_expression = false;
template <class Op, class... Args> inline constexpr bool is_expression<expression<Op, Args...>> = true;

/// Returns the edge of an operand in a graph. An expression becomes a node; with `share`, equal expressions share one.
template <class E>
endpoint seal(const E& e, const graph& g, const std::string& name = {}, bool share = true,
              const std::source_location& where = {}, std::uint64_t pass = next_sealing()) {
    if constexpr (is_expression<E>) {
        using S = typename strip<E>::type;
        require_structure<S>();
        sealing s(g, pass);
        s.where = where;
        gather_leaves(e, s);
        return add_expression(program_of<S>(), s, {}, &make_fused_op, name, share, where);
    } else if constexpr (is_constant_value<E>) {
        if (share) return e.join(g);
        return add_constant(g, e.value(), false, name, where.line() == 0 ? e.where() : where);
    } else if constexpr (requires { e.part(); }) {
        return e.part().seal(g, pass);
    } else {
        return checked(e.end(), where);
    }
}
template <class E> endpoint seal(const E& e) { return seal(e, graph_of_operand(e)); }

template <class E> class deferred_expression final : public deferred_part {
public:
    explicit deferred_expression(E e) : part_(std::move(e)), home_(home_of(part_)) {}

    const graph_state* home() const override { return home_; }
    endpoint seal(const graph& g, std::uint64_t pass) override {
        // the edge is reused in equal scopes only: control inputs and devices may differ from one parent to the next
        const auto& now = scopes();
        const std::lock_guard lock(mutex_);
        const bool same_scopes =
            pass == pass_ || (controls_ == now.control_inputs && inside_ == now.inside &&
                              devices_ == now.devices.size() && now.devices.empty() && colocated_ == now.colocated);
        if (done_ && &done_.graph().state() == &g.state() && same_scopes) return done_;
        const endpoint made = detail::seal(part_, g, {}, true, {}, pass);
        done_ = made;
        pass_ = pass;
        controls_ = now.control_inputs;
        devices_ = now.devices.size();
        colocated_ = now.colocated;
        inside_ = now.inside;
        return made;
    }

private:
    E part_;
    const graph_state* home_; // the leaves keep it alive
    std::mutex mutex_;
    any_tensor done_;
    std::uint64_t pass_ = 0;
    std::vector<const node*> controls_;
    std::size_t devices_ = 0;
    const node* colocated_ = nullptr;
    const region* inside_ = nullptr;
};

template <class T, index_t... D, class E> deferred<T, D...> defer(const operand<T, D...>&, const E& e) {
    return deferred<T, D...>(std::make_shared<deferred_expression<E>>(e));
}

// ---- arguments of an expression -----------------------------------------------------------------------------------------

template <class T, index_t... D> auto handle_of(const operand<T, D...>&, const any_tensor& t) {
    return tensor<T, D...>(unchecked, t);
}

/// Returns an operand as expressions keep it: handles as plain tensors, others unchanged.
template <class X> auto as_argument(const X& x) {
    if constexpr (requires { X::loop_part_number; }) // a loop_part: its type holds the part's number
        return x;
    else if constexpr (requires { x.end(); })
        return handle_of(x, x);
    else
        return x;
}

/// Builds an expression. Defers the heaviest arguments until it is light enough.
template <class Op, class... Args> auto make_expression(const Args&... args) {
    constexpr int total = (op_weight<Op> + ... + weight_of<Args>);
    if constexpr (total <= weight_limit || ((weight_of<Args> == 0) && ...)) {
        return expression<Op, Args...>(args...);
    } else {
        constexpr int heaviest = std::max({weight_of<Args>...});
        const auto lighter = [](const auto& a) {
            if constexpr (weight_of<std::remove_cvref_t<decltype(a)>> == heaviest)
                return defer(a, a);
            else
                return a;
        };
        return make_expression<Op>(lighter(args)...);
    }
}

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/expr/expression.ipp>
#endif
