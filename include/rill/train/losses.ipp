// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/losses.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD any_tensor checked_weights(const char* loss, const any_tensor& weights, const tensor_type& elements,
                                     const std::source_location& where) {
    const auto& type = type_of(weights.end());
    const auto refuse = [&](const char* why) {
        throw invalid_argument(std::string(loss) + ": " + why + "; the weights are " + to_string(type) +
                               ", the losses " + to_string(elements) + at_place(where));
    };
    if (type.type != elements.type) refuse("the dtype of the weights differs");
    if (!type.shape.known_rank() || (type.shape.rank != 0 && type.shape.rank != elements.shape.rank))
        refuse("the weights must be a number, or have as many dimensions as the losses");
    for (int i = 0; i < type.shape.rank; ++i)
        if (type.shape[i] != 1 && !rules::extents_compatible(type.shape[i], elements.shape[i]))
            refuse("the weights do not broadcast to the losses");
    return weights;
}

RILL_COLD any_tensor sum_of_losses(bool regularization, const std::source_location& where) {
    endpoint_list all;
    const graph g = current_graph();
    for (const auto& e : g.collection(collections::losses)) all.push_back(e);
    if (regularization)
        for (const auto& e : g.collection(collections::regularization_losses)) all.push_back(e);
    if (all.empty()) throw invalid_argument("get_total_loss: there are no losses" + at_place(where));
    return any_tensor(all.size() == 1 ? all[0] : add_list(all, where));
}

}}} // namespace rill::RILL_ABI::detail
