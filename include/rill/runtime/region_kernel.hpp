// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <rill/core/hash_map.hpp>
#include <rill/device/kernel.hpp>
#include <rill/graph/op/op.hpp>
#include <rill/passes/subgraph.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

struct control_flow;
class induction_variable;
class plan;

/// Thrown while a straight line is bound: the bodies of one of its nodes give other extents each time, so that the node must stand alone.
/// No error: whoever runs the line runs it in pieces then.
struct dynamic_shape_found {};

/// The plans of the bodies that a plan's nodes run.
struct body_plans {
    hash_map<const body*, std::shared_ptr<plan>> of;
    hash_map<const body*, std::shared_ptr<const induction_variable>> counted; // of those, what their plans leave out
    hash_map<const body*, std::shared_ptr<plan>> whole; // plans that leave out nothing, where one may be needed
    const control_flow* control = nullptr;              // of their graph

    const std::shared_ptr<plan>& at(const body& b) const { return of.at(&b); }
    const std::shared_ptr<plan>& whole_at(const body& b) const {
        const auto found = whole.find(&b);
        return found != whole.end() ? found->second : at(b);
    }
    /// Calls f(plan) for each.
    template <class F> void each(const F& f) const {
        for (const auto* all : {&of, &whole})
            for (const auto& [b, p] : *all) f(*p);
    }
};

/// A run of a node's bodies, one after another: whoever drives it runs the body that it asks for, and may do other things meanwhile.
class region_driver {
public:
    virtual ~region_driver() = default;
    /// What is to run next, given what the last one gave; null: it is over, and `given` is the node's outputs.
    virtual plan* next(std::vector<any_array>& given, std::vector<any_array>& feeds) = 0;
    /// Of a loop: how many iterations are over; of what is none -1.
    virtual std::int64_t iterations() const = 0;
    /// What is being handled, with where it happened.
    [[noreturn]] virtual void rethrow() const = 0;
};

/// What runs the bodies of a node: immutable, as all steps are.
class region_kernel {
public:
    virtual ~region_kernel() = default;
    /// For a node that stands alone: body by body. Null if none of them is run in pieces: it is done at once then.
    virtual std::unique_ptr<region_driver> begin(std::span<const any_array> /*inputs*/) const { return nullptr; }
    virtual std::vector<any_array> run_alone(std::span<const any_array> inputs, const step_context* context) const = 0;
};

/// The same as a step of a straight line: what a run needs is in its memory, of which each frame has one.
class static_region_kernel : public region_kernel {
public:
    struct memory {
        virtual ~memory() = default;
    };
    virtual std::unique_ptr<memory> make_memory() const = 0;
    /// Tells how many iterations a loop had; of what is none -1.
    virtual std::int64_t run(memory& own, const kernel_args& args) const = 0;
};

struct region_binding {
    std::vector<tensor_type> outputs;
    std::shared_ptr<const region_kernel> step;
    std::vector<int> changes =
        {}; // per output: the input that it is, or is with some changes, in its place if need be; -1: none
};

}}} // namespace rill::RILL_ABI::detail
