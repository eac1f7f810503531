// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <vector>

#include <rill/device/device.hpp>
#include <rill/device/kernel.hpp>
#include <rill/graph/graph.hpp>
#include <rill/runtime/fetch_place.hpp>
#include <rill/runtime/options.hpp>
#include <rill/runtime/plan_key.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

// Forward declarations only: user programs do not compile the runtime.
class plan;
class variable_state;
struct execution_state;

/// A step of a plan and, after run(), its fetched values. The values stay in the step's frame until this object is destroyed. The plan must
/// outlive it.
class step_result {
public:
    step_result(plan& p, std::unique_ptr<execution_state> step);
    step_result(step_result&&) noexcept;
    ~step_result();

    void run(std::span<const fetch_place> places, std::span<const void* const> feeds, const step_context& context);

    const tensor_type& type(std::size_t i) const;
    const void* data(std::size_t i) const;
    /// Returns true if the run has written value i into its fetch_place.
    bool placed(std::size_t i) const;

private:
    plan& plan_;
    std::unique_ptr<execution_state> step_;
};

/// The untyped core of a session, shared with its callables.
class session_core {
public:
    session_core(const rill::graph& g, const session_options& options);
    ~session_core();

    const rill::graph& graph() const noexcept { return graph_; }
    const session_options& options() const noexcept { return options_; }
    /// Returns the default device, for nodes that name none. It is fixed at construction, because variables stay where they are.
    const rill::device& device() const noexcept { return device_; }

    /// Closes the session: later runs throw `cancelled`. Memory is freed once no run uses it.
    void close(const std::source_location& where = {}) noexcept;
    bool closed() const noexcept;

    std::shared_ptr<plan> find_plan(const plan_key& key);

    /// Runs a plan; the fetched values are borrowed from the result. `places` has one entry for each fetch, or none.
    step_result run(plan& p, std::span<const any_array> feeds, std::span<const fetch_place> places = {},
                    const run_options* how = nullptr);

    /// Returns the edge of a name: "layer/x:0", or "layer/x" for output 0. Throws not_found if the graph has none.
    endpoint edge(const std::string& name) const;
    /// Returns the edge of a fetched name. A node without outputs, such as "train", gives port -1.
    endpoint fetched(const std::string& name) const;

    std::string memory_report();

    /// Returns true for the first call with `what` in this session.
    bool first_time(const std::string& what);

    /// Binds a variable to a state that others may share. Call it before a plan with this variable is bound.
    void share(const node* variable, std::shared_ptr<variable_state> value);
    /// Returns the state of a variable; null before its first use.
    std::shared_ptr<variable_state> shared(const node* variable);

    /// Returns true if a variable was used in this session and has a value.
    bool has_value(const node* variable) const;

private:
    struct state;

    /// Returns the node of a name and the port after the colon, -1 without a colon.
    endpoint named(const std::string& name) const;
    void check_open(const plan_key* asked = nullptr) const;
    [[noreturn]] void refuse_closed(const plan_key* asked) const;
    step_context context_of(const run_options& how) const;
    void run_with_options(step_result& step, std::span<const fetch_place> places, std::span<const void* const> feeds,
                          const run_options& how) const;
    void check_key(const plan_key& key) const;

    rill::graph graph_;
    session_options options_;
    std::unique_ptr<state> state_;
    const rill::device& device_; // owned by the state
};

void reset_containers(const std::string& target, const std::vector<std::string>& containers);

std::shared_ptr<session_core> make_session_core(const rill::graph& g, const session_options& options);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/session/session_core.ipp>
#endif
