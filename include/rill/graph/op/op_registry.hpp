// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <rill/graph/op/op.hpp>

namespace rill { inline namespace RILL_ABI {

/// What a process knows of an op by name. Entries are made from structs (op_entry_of) and live as long as the process.
struct op_entry {
    std::string_view name;
    std::string_view struct_name; // as the compiler spells it
    int version = 1;
    std::uint32_t dtypes = 0;                      // it takes these: bit i for the dtype of number i; none: any
    const char* no_gradient = nullptr;             // why it has no gradient; null if it has one
    const elementwise_info* elementwise = nullptr; // null of an op that is a node of its own
    dtype result = dtype::invalid;                 // of an elementwise op whose result is of one dtype
    int operands = 0;                              // of an elementwise op
    bool mixed = false;                            // the operands of an elementwise op are not all of one dtype
    op_ptr (*make)(field_visitor* fields) =
        nullptr; // of a node op: from fields that were written, or as it is by default

    bool takes(dtype type) const { return dtypes == 0 || (dtypes >> static_cast<int>(type) & 1u) != 0; }
};

/// Makes an op known by its name. Throws already_exists if another struct has the name; the same again is nothing new.
void register_op(const op_entry& entry);

/// The ops known so far, by name: every one of the catalogue where the program links rill::kernels or includes
/// <rill/all_kernels.hpp>, and all that typed functions of the program made. Null if there is none. `result` tells the
/// conversions to several dtypes apart.
const op_entry* find_op(std::string_view name, dtype result = dtype::invalid);
std::vector<const op_entry*> known_ops();

/// A node op by name: with fields that op::fields wrote, or the struct's defaults. Throws not_found (with names like it), and
/// invalid_argument for fields that are none of its own or of a version it does not know.
op_ptr make_op(std::string_view name);
op_ptr make_op(std::string_view name, int version, std::string_view fields);

namespace detail {

template <class Op> op_ptr make_from_fields(field_visitor* fields) {
    Op made{};
    if constexpr (requires { Op::fields(made, *fields); })
        if (fields) Op::fields(made, *fields);
    return make_op(std::move(made));
}

template <class Op> constexpr std::uint32_t dtypes_of() {
    std::uint32_t all = 0;
    if constexpr (!op_takes<Op, void>)
        for (int d = 1; d < dtype_count; ++d)
            visit_dtype(static_cast<dtype>(d), [&]<class T>(std::type_identity<T>) {
                if constexpr (op_takes<Op, T>) all |= std::uint32_t(1) << d;
            });
    return all;
}

} // namespace detail

/// What a node op's struct says.
template <class Op> op_entry op_entry_of() {
    op_entry e;
    e.name = Op::name;
    e.struct_name = detail::type_name<Op>();
    e.version = detail::op_version<Op>;
    e.dtypes = detail::dtypes_of<Op>();
    if constexpr (!detail::has_gradient<Op>) e.no_gradient = Op::no_gradient;
    e.make = &detail::make_from_fields<Op>;
    return e;
}

namespace detail {

template <class Op> inline const bool known_at_start = (register_op(op_entry_of<Op>()), true);

/// An op that has no kernels, which would say so, becomes known to programs that can make it.
template <class Op> void ensure_registered() { (void)known_at_start<Op>; }

} // namespace detail

}} // namespace rill::RILL_ABI

#include <rill/graph/op/field_bytes.hpp> // the bytes that make_op takes

#if !RILL_COMPILED
#include <rill/graph/op/op_registry.ipp>
#endif
