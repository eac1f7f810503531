// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rill/core/vector.hpp>
#include <rill/device/kernel.hpp>
#include <rill/passes/functionalize/flow_graph.hpp>
#include <rill/passes/place.hpp>
#include <rill/resources/resource_store.hpp>
#include <rill/runtime/options.hpp>
#include <rill/runtime/plan_key.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class plan;

/// A plan for the dataflow executor, which runs control-flow primitives and the nodes between them node by node. Every value has a tag:
/// its iteration in each enclosing loop. A node runs once per tag, when all its inputs have arrived. If an input is dead, so are the
/// outputs, except for merges. Several iterations of a loop may run at once. All values between nodes lie in host memory.
class dataflow_plan {
public:
    dataflow_plan(const plan_key& key, const session_options& options, const std::shared_ptr<resource_store>& resources,
                  const std::shared_ptr<placement>& where);
    ~dataflow_plan();

    void close() const noexcept;

    static constexpr int none = -1;

    /// An edge to an input of a step; input `none`: a control edge.
    struct edge {
        int to, input;
    };
    struct step {
        const node* origin = nullptr; // null: a step for a feed, or one that passes a value into a loop
        control_flow_kind flow;
        int frame = 0;                       // the loop it runs in
        int output_frame = 0;                // the loop its outputs are in
        int place = 0;                       // its index among the steps of its frame
        int data = 0, controls = 0;          // numbers of its data and control inputs
        bool begins = false;                 // a merge with a back edge
        std::vector<std::vector<edge>> next; // per port; the last are control edges
        std::vector<int> fetched;            // per port: its result number, or none
        std::vector<int> fed;                // per input: its feed number, or none
        std::shared_ptr<plan> runs;          // the plan of a node that is not a primitive
        std::vector<int> arguments;          // the inputs that feed that plan

        /// Returns true for a variable or a constant that only plans of other nodes read.
        bool is_source() const {
            const auto role = origin ? origin->op->role() : op_role::ordinary;
            return (role == op_role::variable || role == op_role::constant) && next[0].empty() && fetched[0] < 0;
        }
    };
    struct loop {
        int parent = none, steps = 0, enters = 0, parallel = 1;
        std::vector<int> leaves;
        std::string name = {};
    };

    const vector<step>& steps() const { return steps_; }
    const vector<loop>& loops() const { return loops_; }
    const std::vector<endpoint>& results() const { return results_; }

private:
    void add_step(const flow_graph& g, const node* n);
    void compile(const flow_graph& g, step& s, const session_options& options,
                 const std::shared_ptr<resource_store>& resources, const std::shared_ptr<placement>& where);
    void connect(int from, int port, int to, int input);
    int brought(int from, int port, int into);
    int feed_step(int feed);

    vector<step> steps_;
    vector<loop> loops_;
    std::vector<endpoint> results_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/dataflow/dataflow_plan.ipp>
#endif
