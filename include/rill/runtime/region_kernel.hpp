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

struct dynamic_runtime;
class induction_variable;
class plan;

/// The plans of the bodies that a plan's nodes run.
struct body_plans {
    hash_map<const body*, std::shared_ptr<plan>> of;
    hash_map<const body*, std::shared_ptr<const induction_variable>> counted; // induction variables that `of` omits
    hash_map<const body*, std::shared_ptr<plan>> whole; // complete plans, for nodes that may run without it
    const dynamic_runtime* control = nullptr;           // the control-flow runtime

    const std::shared_ptr<plan>& at(const body& b) const { return of.at(&b); }
    const std::shared_ptr<plan>& whole_at(const body& b) const {
        const auto found = whole.find(&b);
        return found != whole.end() ? found->second : at(b);
    }
    /// Calls f(plan) for each plan.
    template <class F> void each(const F& f) const {
        for (const auto* all : {&of, &whole})
            for (const auto& [b, p] : *all) f(*p);
    }
};

/// A run of a node's bodies, one after another. The caller runs each requested body, and may do other work in between.
class region_driver {
public:
    virtual ~region_driver() = default;
    /// Returns the plan to run next, and its feeds; null at the end. `given`: the results of the last plan, and at the end the node's
    /// outputs.
    virtual plan* next(std::vector<any_array>& given, std::vector<any_array>& feeds) = 0;
    /// Returns the number of completed iterations of a loop; -1 for other region ops.
    virtual std::int64_t iterations() const = 0;
    /// Rethrows the current exception, with the iteration where it was thrown.
    [[noreturn]] virtual void rethrow() const = 0;
};

/// A kernel that runs the bodies of a node. Immutable, like all steps.
class region_kernel {
public:
    virtual ~region_kernel() = default;
    /// Begins a run of a dynamic node, body by body. Returns null if the kernel does not need to wait: run_dynamic then runs the node.
    virtual std::unique_ptr<region_driver> begin(std::span<const any_array> /*inputs*/) const { return nullptr; }
    virtual std::vector<any_array> run_dynamic(std::span<const any_array> inputs,
                                               const step_context* context) const = 0;
};

/// A region kernel for a step of a static segment. The state of a run is in its memory object, one per frame.
class static_region_kernel : public region_kernel {
public:
    struct memory {
        virtual ~memory() = default;
    };
    virtual std::unique_ptr<memory> make_memory() const = 0;
    /// Runs the node. Returns the number of iterations of a loop; -1 for other region ops.
    virtual std::int64_t run(memory& own, const kernel_args& args) const = 0;
};

/// A bound node with bodies. Without a kernel the node binds dynamically: its bodies bind dynamically, or runs of them have different
/// extents. The plan then runs it in stages.
struct region_binding {
    std::vector<tensor_type> outputs = {};
    std::shared_ptr<const region_kernel> step = {};
    std::vector<int> changes =
        {}; // per output: the input that it equals, or is a modified copy of and may overwrite; -1: none
};

}}} // namespace rill::RILL_ABI::detail
