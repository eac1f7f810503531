// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <rill/core/hash_map.hpp>
#include <rill/core/vector.hpp>
#include <rill/passes/subgraph.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Whether host kernels may work an op's outputs out while shapes are bound: they follow from its inputs, and nothing else happens.
bool may_be_worked_out(const op& made);

/// The values of a subgraph that follow from constants and shapes alone, such as `stack<0>(size(x) / 2, constant(2))`: what
/// shape rules may read. Nothing is worked out before it is asked for; then the host's kernels do it, while shapes are bound.
class constant_folder {
public:
    /// Both outlive it; types of the items before the one that asks are there, and complete.
    constant_folder(const subgraph& g, const vector<std::vector<tensor_type>>& types) : graph_(g), types_(types) {}

    /// Null of what only a run knows, and of large arrays. Throws what a kernel throws, with its place.
    const any_array* find(subgraph::value v);

    /// The outputs of an item that was asked for and is known, else null.
    const std::vector<any_array>* of_item(int item) const;

private:
    const any_array* told(subgraph::value v) const; // constants, and what is worked out already
    bool decided(const subgraph::value& v) const;
    subgraph::value source(subgraph::value v) const;
    bool may_be_known(int item) const;
    std::vector<any_array> fold_value(int item) const; // empty: not known

    const subgraph& graph_;
    const vector<std::vector<tensor_type>>& types_;
    hash_map<int, std::vector<any_array>> values_; // of items that were asked for
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/passes/constant_folder.ipp>
#endif
