// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <rill/core/hash_map.hpp>
#include <rill/core/vector.hpp>
#include <rill/passes/subgraph.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns true if host kernels may compute the op's outputs while shapes are bound: the op is pure and not dynamic.
bool may_be_folded(const op& made);

/// A constant folder: computes the values that follow from constants and shapes alone, such as `stack<0>(size(x) / 2, constant(2))`.
/// Shape rules may read them on the host. Host kernels therefore compute them on demand while shapes are bound, wherever the nodes are
/// placed.
class constant_folder {
public:
    /// Keeps references to both arguments. Types of all earlier items must be present and complete when a value is requested.
    constant_folder(const subgraph& g, const vector<std::vector<tensor_type>>& types) : graph_(g), types_(types) {}

    /// Returns the value; null if only a run computes it, or if it is large. Throws the errors of kernels, with their location.
    const any_array* find(subgraph::value v);

    /// Returns the folded outputs of an item; null if they are not constant, or `find` has not requested them.
    const std::vector<any_array>* of_item(int item) const;

private:
    const any_array* folded_value(subgraph::value v) const; // a constant, or a value folded already; else null
    bool decided(const subgraph::value& v) const;
    subgraph::value source(subgraph::value v) const;
    bool may_be_known(int item) const;
    std::vector<any_array> fold_value(int item) const; // empty: not constant

    const subgraph& graph_;
    const vector<std::vector<tensor_type>>& types_;
    hash_map<int, std::vector<any_array>> values_; // per item that was asked for; empty: not constant
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/passes/constant_folder.ipp>
#endif
