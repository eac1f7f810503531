// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <rill/train/get_variable.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns the default name of a layer: its label, with a number if the open variable_scope already has one. Outside of scopes
/// the names of the graph's variables are counted.
std::string next_layer_name(const char* label);

/// The base of the layers: the call without a name, dense<10>()(x).
template <class Layer> struct unnamed_layer {
    template <typed_operand X>
    auto operator()(const X& x, const std::source_location& where = std::source_location::current()) const {
        const auto name = [&] {
            const graph_scope here(graph_of_operand(x)); // drops the scopes of another graph
            return next_layer_name(Layer::label);
        };
        return static_cast<const Layer&>(*this)(name(), x, where);
    }
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/train/unnamed_layer.ipp>
#endif
