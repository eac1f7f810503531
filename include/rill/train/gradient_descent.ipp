// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/gradient_descent.hpp>

#include <rill/ops/linalg/matmul.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::optional<assign_sub_product_op> gradient_descent_rule::absorb(const op& gradient) {
    if (gradient.struct_name() != detail::type_name<matmul_op>()) return std::nullopt;
    const auto& product = *static_cast<const matmul_op*>(gradient.attributes());
    return assign_sub_product_op{product.transpose_a, product.transpose_b};
}

}} // namespace rill::RILL_ABI
