// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <rill/core/at_start.hpp>
#include <rill/graph/op/op.hpp>

namespace rill { inline namespace RILL_ABI {

/// The entry of an op in the process-wide registry. Entries are made from structs (op_entry_of) and live as long as the process.
struct op_entry {
    std::string_view name;
    std::string_view struct_name; // as the compiler spells it
    int version = 1;
    std::uint32_t dtypes = 0;                        // accepted dtypes: bit i for the dtype of number i; 0: any
    const char* no_gradient = nullptr;               // why it has no gradient; null if it has one
    const elementwise_info* elementwise = nullptr;   // null for an op that is a node of its own
    dtype result = dtype::invalid;                   // result dtype of an elementwise op; invalid: as its last operand
    int operands = 0;                                // operand count of an elementwise op
    bool mixed = false;                              // operands of an elementwise op may differ in dtype
    op_ptr (*make)(field_visitor* fields) = nullptr; // makes a node op from written fields (null: from the defaults)

    bool takes(dtype type) const { return dtypes == 0 || (dtypes >> static_cast<int>(type) & 1u) != 0; }
};

/// Registers an op under its name; a second registration of the same struct changes nothing. Throws already_exists if another struct
/// has the name.
void register_op(const op_entry& entry);

/// Returns a registered op by name, or null. `result` selects among the conversions, which differ in their result dtype. The catalogue
/// is registered if the program links rill::kernels or includes <rill/all_kernels.hpp>. Ops that typed functions of the program make
/// are always registered.
const op_entry* find_op(std::string_view name, dtype result = dtype::invalid);
std::vector<const op_entry*> known_ops();

/// Makes a node op by name, with the struct's defaults or with fields that op::fields wrote. Throws not_found, with similar names, for
/// an unknown op. Throws invalid_argument for unknown fields or an unsupported version.
op_ptr make_op(std::string_view name);
op_ptr make_op(std::string_view name, int version, std::string_view fields);

namespace detail {

/// Registers all ops of the catalogue with their kernels, if the program links rill::kernels. Code that may encounter any op or element
/// type calls it: imports, servers, look-ups by name, functions with a run-time dtype. A program that calls none of them contains only the
/// kernels that it names.
void require_catalogue();

/// Returns an op that is registered already, or null: find_op without the catalogue.
const op_entry* find_registered_op(std::string_view name, dtype result = dtype::invalid);

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

/// Returns the registry entry of a node op, made from the op's struct.
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

template <class Op> bool entry_registered() {
    static const bool done = (register_op(op_entry_of<Op>()), true);
    return done;
}

/// Registers an op without kernels. Other ops are registered together with their kernels.
template <class Op> void ensure_registered() { run_at_start<&entry_registered<Op>>(); }

} // namespace detail

}} // namespace rill::RILL_ABI

#include <rill/graph/op/field_bytes.hpp> // the form of make_op's fields

#if !RILL_COMPILED
#include <rill/graph/op/op_registry.ipp>
#endif
