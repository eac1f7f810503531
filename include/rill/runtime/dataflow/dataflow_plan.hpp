// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rill/core/vector.hpp>
#include <rill/device/kernel.hpp>
#include <rill/passes/functionalize/flow_graph.hpp>
#include <rill/resources/resources.hpp>
#include <rill/runtime/options.hpp>
#include <rill/runtime/plan_key.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class plan;

/// Primitives of control flow, and what lies between them, run node by node, as the white paper says: a value has a tag, the iteration
/// of each loop that it lies in; a node runs once for each tag when all its inputs have come, and is dead, which is passed on in place
/// of values, if one of them is. Several iterations of a loop may be under way.
class dataflow_plan {
public:
    dataflow_plan(const plan_key& key, const session_options& options, const std::shared_ptr<resource_store>& resources,
                  const device_type& default_device);
    ~dataflow_plan();

    void close() const noexcept;

    static constexpr int none = -1;

    /// An edge: to an input of a node, or, none, to a node that waits.
    struct edge {
        int to, input;
    };
    struct step {
        const node* origin = nullptr; // null: brings into a loop what never entered it
        control_flow_kind flow;
        int frame = 0;                       // in which it runs
        int gives = 0;                       // in which its values are
        int place = 0;                       // among those that run in its frame
        int data = 0, controls = 0;          // what it waits for
        bool begins = false;                 // a merge that a loop goes back to
        std::vector<std::vector<edge>> next; // per port; behind them, those that wait for the node
        std::vector<int> fetched;            // per port: the result that it is
        std::vector<int> fed;                // per input: the feed that it is, or none
        std::shared_ptr<plan> runs;          // of what is no primitive
        std::vector<int> arguments;          // of which these inputs are the feeds

        /// A variable or a constant that each plan reads itself.
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
                 const std::shared_ptr<resource_store>& resources, const device_type& default_device);
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
