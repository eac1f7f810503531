// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include <rill/device/structure.hpp>

// The key of a structure: the text by which compiled kernels are found.

namespace rill { inline namespace RILL_ABI {

namespace detail {

// ---- a structure as data: operands before their op (postfix) ---------------------------------------------------------------

struct structure_item {
    enum class kind : std::uint8_t { leaf, scalar, op };

    kind is = kind::leaf;
    dtype type = dtype::invalid;
    dtype first = dtype::invalid; // for an op: the dtype of its first operand
    int arity = 0;
    const elementwise_info* op = nullptr;
    std::string (*parameter)() = nullptr;
};

template <class S> struct structure_list;
template <class T> struct structure_list<leaf<T>> {
    static constexpr int count = 1;
    static constexpr void fill(structure_item*& to) {
        *to++ = {structure_item::kind::leaf, dtype_of<T>, dtype::invalid, 0, nullptr, nullptr};
    }
};
template <class T> struct structure_list<scalar_leaf<T>> {
    static constexpr int count = 1;
    static constexpr void fill(structure_item*& to) {
        *to++ = {structure_item::kind::scalar, dtype_of<T>, dtype::invalid, 0, nullptr, nullptr};
    }
};
template <class Op, class R, class First, class... Args> struct structure_list<structure<Op, R, First, Args...>> {
    static constexpr int count = 1 + structure_list<First>::count + (0 + ... + structure_list<Args>::count);
    static constexpr void fill(structure_item*& to) {
        structure_list<First>::fill(to);
        (structure_list<Args>::fill(to), ...);
        std::string (*parameter)() = nullptr;
        if constexpr (requires { Op::parameter(); }) parameter = +[]() -> std::string { return Op::parameter(); };
        *to++ = {structure_item::kind::op,
                 dtype_of<R>,
                 dtype_of<typename First::value_type>,
                 1 + static_cast<int>(sizeof...(Args)),
                 &info_of<Op>,
                 parameter};
    }
};

template <class S> struct structure_data {
    static constexpr auto items = [] {
        std::array<structure_item, structure_list<S>::count> all;
        structure_item* to = all.data();
        structure_list<S>::fill(to);
        return all;
    }();
};

std::string structure_key(std::span<const structure_item> items);

/// A lazily computed, leaked structure key. It costs no static guard and no destructor per structure.
class structure_name {
public:
    const std::string& key(std::span<const structure_item> items);

private:
    std::atomic<const std::string*> key_{nullptr};
};

} // namespace detail

/// Returns the key of a structure, e.g. "Mul(Add($0:float32,s0:float32),$1:float32)". Equal keys mean equal structures.
template <class S> const std::string& key_of() {
    static constinit detail::structure_name name;
    return name.key(detail::structure_data<S>::items);
}

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/device/structure_key.ipp>
#endif
