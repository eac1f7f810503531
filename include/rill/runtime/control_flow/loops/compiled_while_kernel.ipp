// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/control_flow/loops/compiled_while_kernel.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/shared.hpp>
#include <rill/device/array_slots.hpp>
#include <rill/runtime/control_flow/loops/loop_expressions.hpp>
#include <rill/runtime/trace/step_recorder.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class compiled_while_kernel final : public static_region_kernel {
public:
    compiled_while_kernel(compiled_loop loop, std::int64_t most, vector<scalar_expression_at> expressions,
                          std::vector<tensor_type> state)
        : loop_(loop), most_(most), expressions_(std::move(expressions)), state_(std::move(state)) {}

    std::unique_ptr<memory> make_memory() const override { return std::make_unique<own>(expressions_, state_.size()); }

    std::int64_t run(memory& mine, const kernel_args& args) const override {
        auto& m = static_cast<own&>(mine);
        for (std::size_t i = 0; i < state_.size(); ++i) {
            const int part = static_cast<int>(i);
            m.state[i] = args.out<void>(part);
            copy_elements(state_[i].type, args.in<void>(part), m.state[i], 1);
        }
        m.tables.fill(expressions_, args);
        return loop_({m.tables.all(), m.state.data(), most_, args.step});
    }

    std::vector<any_array> run_dynamic(std::span<const any_array> inputs, const step_context* context) const override {
        auto outputs = arrays_of(state_);
        array_slots slots(inputs, outputs);
        note_iterations(context, run(*make_memory(), slots.args(context)));
        return outputs;
    }

private:
    struct own final : memory {
        own(const vector<scalar_expression_at>& all, std::size_t parts) : tables(all), state(parts) {}
        loop_tables tables;
        std::vector<void*> state;
    };

    compiled_loop loop_;
    std::int64_t most_;
    vector<scalar_expression_at> expressions_;
    std::vector<tensor_type> state_;
};

RILL_COLD std::shared_ptr<const static_region_kernel> bind_compiled_loop(const subgraph::item& it,
                                                                         std::span<const tensor_type> inputs) {
    const auto& use = *it.op->regions();
    const auto& bodies = *it.origin->bodies;
    const auto parts = static_cast<std::size_t>(use.operands);
    if (use.how != region_attributes::form::repeat || use.effects || use.written > 0 ||
        bodies[1].results.size() != parts)
        return {};
    const auto is_number = [](const tensor_type& t) { return t.shape.rank == 0 && t.type != dtype::string; };
    if (!detail::all_of(inputs, is_number)) return {};
    vector<scalar_expression_at> expressions;
    const auto add = [&](const body& b, const endpoint& e) {
        auto found = scalar_expression_of(b, e);
        if (found) expressions.push_back(std::move(*found));
        return found.has_value();
    };
    if (!add(bodies[0], bodies[0].results[0])) return {};
    for (std::size_t i = 0; i < parts; ++i)
        if (type_of(bodies[1].results[i]).type != inputs[i].type || !add(bodies[1], bodies[1].results[i])) return {};
    const auto loop = find_compiled_loop(expressions);
    if (!loop) return {};
    return detail::make_shared<compiled_while_kernel>(
        *loop, use.most, std::move(expressions),
        std::vector<tensor_type>(inputs.begin(), inputs.begin() + use.operands));
}

}}} // namespace rill::RILL_ABI::detail
