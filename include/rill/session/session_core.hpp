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

// Names only: programs compile none of what runs them.
class plan;
class variable_state;
struct execution_state;

/// A finished step of a plan, which must outlive it: the fetched values stay in the frame until it goes.
class step_result {
public:
    step_result(plan& p, std::unique_ptr<execution_state> step);
    step_result(step_result&&) noexcept;
    ~step_result();

    void run(std::span<const fetch_place> places, std::span<const void* const> feeds, const step_context& context);

    const tensor_type& type(std::size_t i) const;
    const void* data(std::size_t i) const;
    /// The value is in its fetch_place.
    bool placed(std::size_t i) const;

private:
    plan& plan_;
    std::unique_ptr<execution_state> step_;
};

/// What a session is made of, shared with its callables. Everything here is independent of static types.
class session_core {
public:
    session_core(const rill::graph& g, const session_options& options);
    ~session_core();

    const rill::graph& graph() const noexcept { return graph_; }
    const session_options& options() const noexcept { return options_; }
    /// Where nodes run that ask for no device: variables stay where they are, so it is settled when the session is made.
    const device_type& device() const noexcept { return device_; }

    /// Later runs throw `cancelled`; memory goes once no run uses it.
    void close(const std::source_location& where = {}) noexcept;
    bool closed() const noexcept;

    std::shared_ptr<plan> find_plan(const plan_key& key);

    /// Runs a plan; the values stay borrowed until the result goes. `places`: one for each fetch, or none at all.
    step_result run(plan& p, std::span<const any_array> feeds, std::span<const fetch_place> places = {},
                    const run_options* how = nullptr);

    /// "layer/x:0", or "layer/x" for output 0.
    endpoint edge(const std::string& name) const;
    /// The same, for a fetch: "train" may also be an operation, whose port is then -1.
    endpoint fetched(const std::string& name) const;

    std::string memory_report();

    /// Whether nobody has asked before: of what happens once in a session.
    bool first_time(const std::string& what);

    /// A variable of the graph has a value that others may have too. Before any plan of it is bound.
    void share(const node* variable, std::shared_ptr<variable_state> value);
    std::shared_ptr<variable_state> shared(const node* variable);

    /// Whether a variable was used in this session, and has a value.
    bool has_value(const node* variable) const;

private:
    struct state;

    /// The node, and the port behind the colon; -1 if there is none.
    endpoint named(const std::string& name) const;
    void check_open(const plan_key* asked = nullptr) const;
    [[noreturn]] void refuse_closed(const plan_key* asked) const;
    step_context context_of(const run_options& how) const;
    void run_with_options(step_result& step, std::span<const fetch_place> places, std::span<const void* const> feeds,
                          const run_options& how) const;
    void check_key(const plan_key& key) const;

    rill::graph graph_;
    session_options options_;
    const device_type& device_;
    std::unique_ptr<state> state_;
};

void reset_containers(const std::string& target, const std::vector<std::string>& containers);

std::shared_ptr<session_core> make_session_core(const rill::graph& g, const session_options& options);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/session/session_core.ipp>
#endif
