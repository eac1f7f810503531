// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tuple>

#include <rill/ops/table/lookup_table_export.hpp>
#include <rill/ops/table/lookup_table_find.hpp>
#include <rill/ops/table/lookup_table_insert.hpp>
#include <rill/ops/table/lookup_table_remove.hpp>
#include <rill/ops/table/lookup_table_size.hpp>

namespace rill { inline namespace RILL_ABI {

/// A table of values by key.
struct hash_table_op : detail::resource_maker {
    static constexpr auto name = "HashTableV2", label = "hash_table";
    detail::table_traits traits;

    static void fields(auto& op, auto& visit) {
        visit("key_dtype", op.traits.key);
        visit("value_dtype", op.traits.value);
        visit("from_file", op.traits.from_file);
        place_fields(op, visit);
    }
    std::vector<tensor_type> outputs(std::span<const tensor_type>) const {
        traits.check();
        return handle_type();
    }
    template <class D, class T> kernel bind(kernel_request& r) const {
        return detail::handle_kernel<D>(detail::make_resource<detail::table_state>(r, place, traits));
    }
};

struct hash_table_options {
    std::string shared_name = {}; // sessions of this process share the table under this name
    std::string name = {};        // name of the node
};

/// True if keys may have type K.
template <class K>
inline constexpr bool is_table_key =
    std::is_same_v<K, std::int32_t> || std::is_same_v<K, std::int64_t> || std::is_same_v<K, std::string>;

/// True if an operand has the element type T of a table.
template <class X, class T> inline constexpr bool fits_table = dtypes_agree<T, dtype_tag<X>>;

/// True if keys and values can have the same shape.
template <class Keys, class Values>
inline constexpr bool one_value_each_key = rules::compatible(static_dims<extents_of<Keys>>, static_dims<extents_of<Values>>);

namespace detail {

/// The base of table handles, with look-up.
template <class K, class V> class table_handle {
    static_assert(is_table_key<K>, "a table's keys are std::int32_t, std::int64_t or std::string");

public:
    tensor<std::int64_t> size(const std::source_location& where = std::source_location::current()) const {
        return {unchecked, apply_node(lookup_table_size_op{}, where, handle_)};
    }
    /// Returns a tuple of all keys and their values.
    auto entries(const std::source_location& where = std::source_location::current()) const {
        const node* n = apply_node(user<lookup_table_export_op>(), where, handle_).node();
        return std::tuple(tensor<K, dyn>(unchecked, any_tensor(endpoint{n, 0})),
                          tensor<V, dyn>(unchecked, any_tensor(endpoint{n, 1})));
    }
    /// Returns the name of the table's node.
    const std::string& name() const { return handle_.node()->name; }
    const any_tensor& handle() const { return handle_; }

protected:
    table_handle(bool from_file, const std::string& shared_name, const std::string& name,
                 const std::source_location& where) {
        hash_table_op op;
        op.traits = {dtype_of<K>, dtype_of<V>, from_file};
        handle_ = add_resource(std::move(op), shared_name, name, where);
    }

    template <class Op> static Op user() {
        Op op;
        op.key = dtype_of<K>;
        op.value = dtype_of<V>;
        return op;
    }
    template <class X> any_tensor keys(const X& x, const char* who) const {
        static_assert(fits_table<X, K>, "the dtype differs from that of the table's keys");
        return resource_operand<K>(x, handle_.graph(), who);
    }
    template <class X> any_tensor values(const X& x, const char* who) const {
        static_assert(fits_table<X, V>, "the dtype differs from that of the table's values");
        return resource_operand<V>(x, handle_.graph(), who);
    }
    template <class X> auto found(const X&, const any_tensor& made) const {
        if constexpr (literal<X>)
            return tensor<V>(unchecked, made);
        else if constexpr (typed_operand<X>)
            return tensor_of<V, extents_of<X>>(unchecked, made);
        else
            return made;
    }
    template <class X> auto look_up(const X& x, const std::source_location& where) const {
        return found(x, apply_node(user<lookup_table_find_op>(), where, handle_, keys(x, "lookup")));
    }
    template <class X, class Otherwise>
    auto look_up(const X& x, const Otherwise& otherwise, const std::source_location& where) const {
        return found(
            x, apply_node(user<lookup_table_find_op>(), where, handle_, keys(x, "find"), values(otherwise, "find")));
    }

    any_tensor handle_;
};

} // namespace detail

/// A table of values by key: hash_table<std::string, std::int64_t> t. Each session of the graph has its own table; a shared name makes it
/// common to the process. Keys are int, std::int64_t or std::string; values have rank 0. Within a step, control dependencies order the
/// ops.
template <class K, class V> class hash_table : public detail::table_handle<K, V> {
public:
    explicit hash_table(const hash_table_options& o = {},
                        const std::source_location& where = std::source_location::current())
        : detail::table_handle<K, V>(false, o.shared_name, o.name, where) {}

    /// Inserts one value for each key. Both are tensors of one shape, or numbers. An existing value is replaced.
    template <class X, class Y>
    operation insert(const X& keys, const Y& values,
                     const std::source_location& where = std::source_location::current()) const {
        if constexpr (typed_operand<X> && typed_operand<Y>)
            static_assert(one_value_each_key<X, Y>, "insert: one value for each key");
        return operation(apply_node(this->template user<lookup_table_insert_op>(), where, this->handle_,
                                    this->keys(keys, "insert"), this->values(values, "insert"))
                             .node());
    }
    /// Returns the values of keys. A missing key is `not_found`.
    template <class X>
    auto lookup(const X& keys, const std::source_location& where = std::source_location::current()) const {
        return this->look_up(keys, where);
    }
    /// Returns the values of keys, and `otherwise` for missing keys.
    template <class X, class Otherwise>
    auto find(const X& keys, const Otherwise& otherwise,
              const std::source_location& where = std::source_location::current()) const {
        return this->look_up(keys, otherwise, where);
    }
    /// Removes keys. Missing keys are ignored.
    template <class X>
    operation remove(const X& keys, const std::source_location& where = std::source_location::current()) const {
        return operation(
            apply_node(this->template user<lookup_table_remove_op>(), where, this->handle_, this->keys(keys, "remove"))
                .node());
    }
};

}} // namespace rill::RILL_ABI
