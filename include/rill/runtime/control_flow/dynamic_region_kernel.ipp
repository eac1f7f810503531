// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/control_flow/dynamic_region_kernel.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/shape_rules.hpp>
#include <rill/core/shared.hpp>
#include <rill/core/vector.hpp>
#include <rill/device/array_slots.hpp>
#include <rill/runtime/control_flow/bound_region.hpp>
#include <rill/runtime/executor/step_executor.hpp>
#include <rill/runtime/plan/staged_plan.hpp>
#include <rill/runtime/tensor_list.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A kernel for bodies that may wait, or whose extents are known only after their runs. All values pass between the runs as
/// arrays.
class dynamic_region_kernel final : public region_kernel {
public:
    dynamic_region_kernel(const subgraph::item& it, const body_plans& plans, allocator& memory)
        : use_(*it.op->regions()), space_(it.memory()), memory_(memory),
          seen_(first_variant(*it.origin)->outputs.size()) {
        for (const auto& b : *it.origin->bodies) bodies_.push_back({&b, plans.whole_at(b)});
        for (int r = 0; r < static_cast<int>(it.origin->outputs.size()); ++r)
            output_spaces_.push_back(it.output_memory(r));
    }

    RILL_INLINE std::unique_ptr<region_driver> begin(std::span<const any_array> inputs) const override;
    std::vector<any_array> run_dynamic(std::span<const any_array>, const step_context*) const override {
        throw internal("dynamic regions are run by a driver");
    }

private:
    class sequence;
    struct planned {
        const body* of;
        std::shared_ptr<plan> steps;
    };

    static any_array slice(const any_array& a, std::int64_t k) {
        if (const auto* slices = tensor_list_items(a)) return (*slices)[static_cast<std::size_t>(k)];
        const dims shape = rules::slice(a.shape());
        const auto bytes = static_cast<std::size_t>(shape.size()) * size_of(a.dtype());
        return any_array(a.dtype(), shape,
                         static_cast<const std::byte*>(a.data()) + static_cast<std::size_t>(k) * bytes, nullptr,
                         a.space());
    }

    /// Returns the values of result r in all iterations as one value. Values of iterations without the result are never read.
    any_array stacked(std::vector<any_array> all, std::size_t r, bool reverse) const {
        const auto& result = bodies_.back().of->results[r];
        const auto& known = type_of(result);
        const auto there = detail::find_if(all, [](const any_array& a) { return !a.empty(); });
        const tensor_type each = there == all.end() ? known : there->type();
        const auto other =
            detail::find_if(all, [&](const any_array& a) { return !a.empty() && a.shape() != each.shape; });
        if (other != all.end()) {
            if (r < seen_)
                throw invalid_argument("values of '" + name_of(result) + "' are " + to_string(each) + " in iteration " +
                                       std::to_string(there - all.begin()) + ", " + to_string(other->type()) +
                                       " in iteration " + std::to_string(other - all.begin()) +
                                       ": they can't be stacked");
            for (auto& a : all)
                if (a.empty()) a = *there;
            if (reverse) std::reverse(all.begin(), all.end());
            return make_tensor_list(known.type, std::move(all));
        }
        dims shape{static_cast<index_t>(all.size())};
        for (int i = 0; i < each.shape.rank; ++i) shape.push(each.shape[i] == dyn ? 0 : each.shape[i]);
        const auto* space = output_spaces_[r];
        auto made = array_in(space, {known.type, shape}, memory_);
        const auto bytes = static_cast<std::size_t>(each.shape.size()) * size_of(known.type);
        for (std::size_t k = 0; k < all.size(); ++k)
            if (!all[k].empty())
                copy_between(all[k].space(), all[k].data(), space,
                             static_cast<std::byte*>(made.mutable_data()) + (reverse ? all.size() - 1 - k : k) * bytes,
                             known.type, each.shape.size());
        return made;
    }

    region_attributes use_;
    const memory_space* space_; // memory of operands, captures and results; null: the host's
    allocator& memory_;
    vector<planned> bodies_;
    std::vector<const memory_space*> output_spaces_; // per output: its memory; null: the host's
    std::size_t seen_; // results that more than gradients read; the others may become tensor lists
};

class dynamic_region_kernel::sequence final : public region_driver {
public:
    sequence(const dynamic_region_kernel& of, std::span<const any_array> inputs)
        : of_(of), use_(of.use_), inputs_(inputs.begin(), inputs.end()) {
        const auto operands = inputs.first(static_cast<std::size_t>(use_.operands));
        const auto carried = static_cast<std::ptrdiff_t>(use_.how == form::scan ? use_.carried : use_.operands);
        state_.assign(operands.begin(), operands.begin() + carried);
        sliced_.assign(operands.begin() + carried, operands.end());
    }

    plan* next(std::vector<any_array>& given, std::vector<any_array>& feeds) override {
        if (running_) given = results(std::move(given));
        switch (use_.how) {
        case form::call: return running_ ? nullptr : run(0, state_, feeds);
        case form::choose: return running_ ? nullptr : run(chosen_body(inputs_[0], of_.bodies_.size()), {}, feeds);
        case form::repeat: return repeat(given, feeds);
        case form::scan: return scan(given, feeds);
        }
        return nullptr;
    }

    std::int64_t iterations() const override { return use_.how == form::repeat || use_.how == form::scan ? k_ : -1; }
    void rethrow() const override {
        if (running_ && (use_.how == form::repeat || use_.how == form::scan)) rethrow_from_iteration(k_);
        throw;
    }

private:
    using form = region_attributes::form;

    plan* run(std::size_t which, const std::vector<any_array>& arguments, std::vector<any_array>& feeds) {
        running_ = &of_.bodies_[which];
        feeds.assign(arguments.begin(),
                     arguments.begin() + static_cast<std::ptrdiff_t>(running_->of->arguments.size()));
        for (const int c : running_->of->captured) feeds.push_back(inputs_[static_cast<std::size_t>(c)]);
        return running_->steps.get();
    }

    /// Returns the body's results from its fetches, with absent values inserted.
    std::vector<any_array> results(std::vector<any_array> fetched) const {
        std::vector<any_array> all;
        std::size_t fetch = 0;
        for (const auto& r : running_->of->results) all.push_back(r ? std::move(fetched[fetch++]) : any_array());
        return all;
    }

    /// Takes the next state from a body's results; keeps the others for stacked outputs.
    void take_state(std::vector<any_array> given, const body& b) {
        const std::size_t parts = state_.size();
        for (std::size_t h = 0; h < kept_.size(); ++h) {
            auto& value = given[parts + h];
            const bool is_swapped = value.space() && !of_.output_spaces_[parts + h];
            kept_[h].push_back(is_swapped ? copied_to(value, nullptr) : std::move(value));
        }
        for (std::size_t i = 0; i < parts; ++i) {
            const auto& known = type_of(b.arguments[i]);
            if (state_[i].dtype() != given[i].dtype() || !rules::compatible(known.shape, given[i].shape()))
                throw invalid_argument("part " + std::to_string(i) + " of the state is " + to_string(state_[i].type()) +
                                       ", the body gives " + to_string(given[i].type()));
        }
        given.resize(parts);
        state_ = std::move(given);
        ++k_;
    }

    plan* finish(std::vector<any_array>& given, bool reverse) {
        const std::size_t parts = state_.size();
        running_ = nullptr; // errors from here on belong to no iteration
        given = std::move(state_);
        for (std::size_t h = 0; h < kept_.size(); ++h)
            given.push_back(of_.stacked(std::move(kept_[h]), parts + h, reverse));
        return nullptr;
    }

    plan* repeat(std::vector<any_array>& given, std::vector<any_array>& feeds) {
        const auto& condition = of_.bodies_[0];
        const auto& round = *of_.bodies_[1].of;
        if (!running_) kept_.resize(round.results.size() - state_.size());
        if (running_ == &condition) return given[0].value<bool>() ? run(1, state_, feeds) : finish(given, false);
        if (running_) take_state(std::move(given), round);
        return use_.most < 0 || k_ < use_.most ? run(0, state_, feeds) : finish(given, false);
    }

    plan* scan(std::vector<any_array>& given, std::vector<any_array>& feeds) {
        const auto& round = *of_.bodies_[0].of;
        if (running_) {
            take_state(std::move(given), round);
        } else {
            kept_.resize(round.results.size() - state_.size());
            length_ = sliced_[0].shape()[0];
            for (const auto& s : sliced_)
                if (s.shape()[0] != length_)
                    throw invalid_argument("one operand has " + std::to_string(length_) + " slices, another " +
                                           std::to_string(s.shape()[0]));
        }
        if (k_ == length_) return finish(given, use_.reverse);
        auto arguments = state_;
        for (const auto& s : sliced_) {
            auto part = slice(s, use_.reverse ? length_ - 1 - k_ : k_);
            const bool is_swapped = of_.space_ && !part.space();
            arguments.push_back(is_swapped ? copied_to(part, of_.space_) : std::move(part));
        }
        return run(0, arguments, feeds);
    }

    const dynamic_region_kernel& of_;
    const region_attributes& use_;
    std::vector<any_array> inputs_, state_, sliced_;
    std::vector<std::vector<any_array>> kept_; // per result beyond the state, and iteration
    std::int64_t k_ = 0, length_ = 0;          // completed iterations, and their number
    const planned* running_ = nullptr;         // the body whose results come next
};

RILL_COLD std::unique_ptr<region_driver> dynamic_region_kernel::begin(std::span<const any_array> inputs) const {
    return std::make_unique<sequence>(*this, inputs);
}

RILL_COLD std::shared_ptr<const region_kernel> bind_dynamic_region(const subgraph::item& it, const body_plans& plans,
                                                                   allocator& memory) {
    return detail::make_shared<dynamic_region_kernel>(it, plans, memory);
}

}}} // namespace rill::RILL_ABI::detail
