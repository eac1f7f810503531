// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/scalar_loop_step.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/shared.hpp>
#include <rill/device/registry.hpp>
#include <rill/expr/scalar_loop_of.hpp>
#include <rill/runtime/array_slots.hpp>
#include <rill/runtime/step_recorder.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Where an expression of a loop's body finds a value.
struct loop_leaf {
    int state = -1, input = -1;  // a part of the state, or an input of the node
    const void* stays = nullptr; // else a constant
};

class scalar_loop_step final : public frame_region_step {
public:
    struct expression {
        std::vector<loop_leaf> leaves;
        vector<scalar_value> scalars;
    };

    scalar_loop_step(scalar_loop loop, std::int64_t most, vector<expression> expressions,
                     std::vector<tensor_type> state)
        : loop_(loop), most_(most), expressions_(std::move(expressions)), state_(std::move(state)) {}

    std::unique_ptr<memory> make_memory() const override {
        return std::make_unique<tables>(expressions_, state_.size());
    }

    std::int64_t run(memory& own, const kernel_args& args) const override {
        auto& t = static_cast<tables&>(own);
        for (std::size_t i = 0; i < state_.size(); ++i) {
            const int part = static_cast<int>(i);
            t.state[i] = args.out<void>(part);
            copy_elements(state_[i].type, args.in<void>(part), t.state[i], 1);
        }
        for (std::size_t e = 0; e < expressions_.size(); ++e)
            for (std::size_t k = 0; k < expressions_[e].leaves.size(); ++k) {
                const auto& l = expressions_[e].leaves[k];
                t.leaves[e][k] = l.input >= 0 ? args.in<void>(l.input) : l.stays;
            }
        return loop_({t.expressions.data(), t.state.data(), most_, args.step});
    }

    std::vector<any_array> run_alone(std::span<const any_array> inputs, const step_context* context) const override {
        auto outputs = arrays_of(state_);
        array_slots slots(inputs, outputs);
        note_iterations(context, run(*make_memory(), slots.args(context)));
        return outputs;
    }

private:
    struct tables final : memory {
        tables(const vector<expression>& all, std::size_t parts) : state(parts) {
            for (const auto& e : all) leaves.emplace_back(e.leaves.size());
            for (std::size_t e = 0; e < leaves.size(); ++e)
                expressions.push_back({leaves[e].data(), all[e].scalars.data()});
        }
        std::vector<std::vector<const void*>> leaves;
        std::vector<scalar_loop_args::expression> expressions;
        std::vector<void*> state;
    };

    scalar_loop loop_;
    std::int64_t most_;
    vector<expression> expressions_;
    std::vector<tensor_type> state_;
};

/// Where a body finds a value; nothing if it computes it.
inline std::optional<loop_leaf> leaf_in(const body& b, const endpoint& e) {
    if (const auto at = std::ranges::find(b.arguments, e); at != b.arguments.end())
        return loop_leaf{static_cast<int>(at - b.arguments.begin()), -1, nullptr};
    if (const auto at = std::ranges::find(b.captures, e); at != b.captures.end())
        return loop_leaf{-1, b.captured[static_cast<std::size_t>(at - b.captures.begin())], nullptr};
    if (const any_array* value = e.from->op->constant()) return loop_leaf{-1, -1, value->data()};
    return {};
}

inline std::pair<scalar_loop_step::expression, std::string> keyed(scalar_loop_step::expression e,
                                                                  const std::string& key) {
    std::vector<int> parts;
    for (const auto& l : e.leaves) parts.push_back(l.state);
    return {std::move(e), loop_key(key, parts)};
}

/// The one expression that gives a result, and its key; nothing if there is another kind of node.
inline std::optional<std::pair<scalar_loop_step::expression, std::string>> expression_of(const body& b,
                                                                                         const endpoint& e) {
    scalar_loop_step::expression made;
    if (const auto leaf = leaf_in(b, e)) {
        made.leaves.push_back(*leaf);
        return keyed(std::move(made), "$0:" + std::string(to_string(type_of(e).type)));
    }
    const fused_spec* spec = e.from->inside == b.of ? e.from->op->fused() : nullptr;
    if (!spec || spec->kernel().empty() || spec->results.size() != 1 || spec->results[0].reduce.how != combine::map ||
        spec->results[0].like >= 0 || divides_integers(*spec->body) || !e.from->control_inputs.empty())
        return {};
    for (const auto& l : spec->leaves) {
        const auto leaf = leaf_in(b, e.from->inputs[l.input]);
        if (!leaf || l.view.how != combine::map) return {};
        made.leaves.push_back(*leaf);
    }
    made.scalars = spec->scalars;
    return keyed(std::move(made), spec->kernel());
}

RILL_COLD std::shared_ptr<const frame_region_step> bind_scalar_loop(const subgraph::item& it,
                                                                    std::span<const tensor_type> inputs) {
    const auto& use = *it.op->regions();
    const auto& bodies = *it.origin->bodies;
    const auto parts = static_cast<std::size_t>(use.operands);
    if (use.how != region_use::form::repeat || use.effects || use.written > 0 || bodies[1].results.size() != parts)
        return {};
    const auto is_number = [](const tensor_type& t) { return t.shape.rank == 0 && t.type != dtype::string; };
    if (!std::ranges::all_of(inputs, is_number)) return {};
    vector<scalar_loop_step::expression> expressions;
    std::vector<std::string> keys;
    const auto add = [&](const body& b, const endpoint& e) {
        auto found = expression_of(b, e);
        if (!found) return false;
        expressions.push_back(std::move(found->first));
        keys.push_back(std::move(found->second));
        return true;
    };
    if (!add(bodies[0], bodies[0].results[0])) return {};
    for (std::size_t i = 0; i < parts; ++i)
        if (type_of(bodies[1].results[i]).type != inputs[i].type || !add(bodies[1], bodies[1].results[i])) return {};
    const auto loop = the_kernels().loops.find(joined_loop_key(keys));
    if (!loop) return {};
    return detail::make_shared<scalar_loop_step>(
        *loop, use.most, std::move(expressions),
        std::vector<tensor_type>(inputs.begin(), inputs.begin() + use.operands));
}

}}} // namespace rill::RILL_ABI::detail
