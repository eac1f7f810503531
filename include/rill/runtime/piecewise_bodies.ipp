// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/piecewise_bodies.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/shape_rules.hpp>
#include <rill/core/vector.hpp>
#include <rill/runtime/bound_body.hpp>
#include <rill/runtime/piecewise.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A node whose bodies may wait, or have values of extents that only their runs decide. Everything goes from run to run as arrays.
class piecewise_bodies final : public region_step {
public:
    piecewise_bodies(const subgraph::item& it, const body_plans& plans, allocator& memory)
        : op_(it.op), use_(*it.op->regions()), memory_(memory) {
        for (const auto& b : *it.origin->bodies) bodies_.push_back({&b, plans.at(&b)});
    }

    std::vector<any_array> run_alone(std::span<const any_array> inputs, const step_context* context) const override {
        const auto operands = inputs.first(static_cast<std::size_t>(use_.operands));
        std::vector<any_array> state(operands.begin(), operands.end());
        using form = region_use::form;
        switch (use_.how) {
        case form::call: return run_body(0, state, inputs, context);
        case form::choose: return run_body(chosen_body(inputs[0], bodies_.size()), {}, inputs, context);
        case form::repeat: return repeat(std::move(state), inputs, context);
        case form::scan: return scan(std::move(state), inputs, context);
        }
        return {};
    }

private:
    struct planned {
        const body* of;
        std::shared_ptr<plan> steps;
    };

    std::vector<any_array> run_body(std::size_t which, const std::vector<any_array>& arguments,
                                    std::span<const any_array> inputs, const step_context* context) const {
        const auto& [of, steps] = bodies_[which];
        std::vector<any_array> feeds(arguments.begin(),
                                     arguments.begin() + static_cast<std::ptrdiff_t>(of->arguments.size()));
        for (const int c : of->captured) feeds.push_back(inputs[c]);
        const auto given = run_plan(*steps, feeds, context);
        std::vector<any_array> results;
        std::size_t fetch = 0;
        for (const auto& r : of->results) results.push_back(r ? given[fetch++] : any_array());
        return results;
    }

    static void check_state(std::size_t part, const any_array& was, const any_array& is, const tensor_type& known) {
        if (was.dtype() != is.dtype() || !rules::compatible(known.shape, is.shape()))
            throw invalid_argument("part " + std::to_string(part) + " of the state is " + to_string(was.type()) +
                                   ", the body gives " + to_string(is.type()));
    }

    std::vector<any_array> repeat(std::vector<any_array> state, std::span<const any_array> inputs,
                                  const step_context* context) const {
        const std::size_t parts = state.size();
        std::vector<std::vector<any_array>> histories(bodies_[1].of->results.size() - parts);
        std::int64_t k = 0;
        try {
            for (; use_.most < 0 || k < use_.most; ++k) {
                if (context) context->check();
                if (!run_body(0, state, inputs, context)[0].value<bool>()) break;
                auto next = run_body(1, state, inputs, context);
                for (std::size_t h = 0; h < histories.size(); ++h) histories[h].push_back(next[parts + h]);
                next.resize(parts);
                for (std::size_t i = 0; i < parts; ++i)
                    check_state(i, state[i], next[i], type_of(bodies_[1].of->arguments[i]));
                state = std::move(next);
            }
        } catch (...) {
            rethrow_from_iteration(k);
        }
        for (std::size_t h = 0; h < histories.size(); ++h)
            state.push_back(stacked(histories[h], type_of(bodies_[1].of->results[parts + h]), false));
        return state;
    }

    std::vector<any_array> scan(std::vector<any_array> state, std::span<const any_array> inputs,
                                const step_context* context) const {
        const auto carried = static_cast<std::size_t>(use_.carried);
        const std::vector<any_array> sliced(state.begin() + use_.carried, state.end());
        const std::int64_t length = sliced[0].shape()[0];
        for (const auto& s : sliced)
            if (s.shape()[0] != length)
                throw invalid_argument("one operand has " + std::to_string(length) + " slices, another " +
                                       std::to_string(s.shape()[0]));
        state.resize(carried);
        std::vector<std::vector<any_array>> stacks(bodies_[0].of->results.size() - carried);
        std::int64_t k = 0;
        try {
            for (; k < length; ++k) {
                if (context) context->check();
                auto arguments = state;
                for (const auto& s : sliced) arguments.push_back(slice(s, use_.reverse ? length - 1 - k : k));
                auto next = run_body(0, arguments, inputs, context);
                for (std::size_t h = 0; h < stacks.size(); ++h) stacks[h].push_back(next[carried + h]);
                next.resize(carried);
                for (std::size_t i = 0; i < carried; ++i)
                    check_state(i, state[i], next[i], type_of(bodies_[0].of->arguments[i]));
                state = std::move(next);
            }
        } catch (...) {
            rethrow_from_iteration(k);
        }
        for (std::size_t h = 0; h < stacks.size(); ++h)
            state.push_back(stacked(stacks[h], type_of(bodies_[0].of->results[carried + h]), use_.reverse));
        return state;
    }

    static any_array slice(const any_array& a, std::int64_t k) {
        const dims shape = rules::slice(a.shape());
        const auto bytes = static_cast<std::size_t>(shape.size()) * size_of(a.dtype());
        return any_array(a.dtype(), shape,
                         static_cast<const std::byte*>(a.data()) + static_cast<std::size_t>(k) * bytes, nullptr);
    }

    any_array stacked(const std::vector<any_array>& all, const tensor_type& known, bool reverse) const {
        dims shape{static_cast<index_t>(all.size())};
        const dims& each = all.empty() ? known.shape : all[0].shape();
        for (int i = 0; i < each.rank; ++i) shape.push(each[i] == dyn ? 0 : each[i]);
        any_array made(known.type, shape, memory_);
        const auto bytes = static_cast<std::size_t>(each.size()) * size_of(known.type);
        for (std::size_t k = 0; k < all.size(); ++k) {
            if (all[k].shape() != each)
                throw invalid_argument("values of one iteration are " + to_string(all[0].type()) + ", of another " +
                                       to_string(all[k].type()) + ": they can't be stacked");
            copy_elements(known.type, all[k].data(),
                          static_cast<std::byte*>(made.mutable_data()) + (reverse ? all.size() - 1 - k : k) * bytes,
                          each.size());
        }
        return made;
    }

    op_ptr op_;
    region_use use_;
    allocator& memory_;
    vector<planned> bodies_;
};

RILL_COLD std::shared_ptr<const region_step> bind_in_pieces(const subgraph::item& it, const body_plans& plans,
                                                            allocator& memory) {
    return std::make_shared<piecewise_bodies>(it, plans, memory);
}

}}} // namespace rill::RILL_ABI::detail
