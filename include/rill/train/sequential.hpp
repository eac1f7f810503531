// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <utility>

#include <rill/train/layers.hpp>

namespace rill { inline namespace RILL_ABI {

/// A chain of layers. Each is named by its kind below the name of the chain: "dense", "dense_1". A callable of one tensor is a layer too.
template <class... L> class sequential_layers : public detail::unnamed_layer<sequential_layers<L...>> {
public:
    using detail::unnamed_layer<sequential_layers>::operator();
    static constexpr auto label = "sequential";
    explicit sequential_layers(L... layers) : layers_(std::move(layers)...) {}

    template <typed_operand X>
    auto operator()(const std::string& name, const X& x,
                    const std::source_location& where = std::source_location::current()) const {
        const graph_scope here(detail::graph_of_operand(x));
        const variable_scope scope(name);
        std::map<std::string, int> counts;
        return from<0>(x, counts, where);
    }

private:
    template <std::size_t I, class X>
    auto from(const X& x, std::map<std::string, int>& counts, const std::source_location& where) const {
        if constexpr (I == sizeof...(L)) {
            return x;
        } else {
            const auto& layer = std::get<I>(layers_);
            if constexpr (requires { layer(std::string(), x, where); }) {
                std::string name = layer.label;
                if (const int n = counts[name]++; n > 0) name += "_" + std::to_string(n);
                return from<I + 1>(layer(name, x, where), counts, where);
            } else {
                return from<I + 1>(layer(x), counts, where);
            }
        }
    }

    std::tuple<L...> layers_;
};
/// Returns a chain of layers.
///     auto net = sequential(conv<32, window{.size = {5, 5}}>(activation::relu), flatten(), dense<10>());
///     auto logits = net("tower", x);
template <class... L> sequential_layers<L...> sequential(L... layers) {
    return sequential_layers<L...>(std::move(layers)...);
}

}} // namespace rill::RILL_ABI
