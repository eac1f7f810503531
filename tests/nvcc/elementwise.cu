// SPDX-License-Identifier: BSD-3-Clause
// Every elementwise op of the catalogue as kernels: forward and adjoint, for each common element type that it takes.
#include <rill/ops/catalogue.hpp>

#include "kernels.hpp"

namespace rill_test {

template <class Op, class T> void compile_for() {
    if constexpr (requires { typename Op::template operands<T>; })
        []<class... A>(std::tuple<A...>*) {
            compile_op<Op, A...>();
        }(static_cast<typename Op::template operands<T>*>(nullptr));
    else if constexpr (detail::operands_of<Op, T>() == 1)
        compile_op<Op, T>();
    else if constexpr (detail::operands_of<Op, T>() == 2)
        compile_op<Op, T, T>();
    else
        compile_op<Op, T, T, T>();
}

void compile_catalogue() {
    catalogue::each([]<class Op>(std::type_identity<Op>) {
        types::common::each([]<class T>(std::type_identity<T>) {
            if constexpr (op_takes<Op, T> && !detail::node_op_struct<Op>) compile_for<Op, T>();
        });
    });
}

} // namespace rill_test
