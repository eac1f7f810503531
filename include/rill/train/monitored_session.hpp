// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <rill/ops/state/variables.hpp>
#include <rill/ops/table/vocabulary.hpp>
#include <rill/summary/merged_summaries.hpp>
#include <rill/train/coordinator.hpp>
#include <rill/train/global_step.hpp>
#include <rill/train/session_hooks.hpp>

namespace rill { inline namespace RILL_ABI {

/// The start of a monitored session. By default it runs the initializers of all global variables, then those of local variables and tables.
struct scaffold {
    std::optional<operation> init = {};               // run unless a checkpoint is restored
    std::function<void(const session&)> init_fn = {}; // called after `init`
    std::optional<operation> local_init = {};         // run always
    std::shared_ptr<rill::saver> saver = nullptr;     // saves and restores
    any_tensor summary = {};                          // written to summary_dir; null: all summaries of the graph
};

struct monitored_session_options {
    std::string target = {};         // empty: this process
    bool is_chief = true;            // initialises, saves, writes summaries; others wait for it
    std::string checkpoint_dir = {}; // empty: nothing is saved or restored
    std::chrono::nanoseconds save_every = std::chrono::minutes(10); // 0: only at the end
    std::string summary_dir = {};                                   // empty: no summaries
    std::int64_t stop_at_step = 0;                                  // of the global step; 0: no limit
    std::vector<hook_ptr> hooks = {};                               // called in this order, after the session's own
    std::chrono::nanoseconds chief_timeout = std::chrono::hours(2); // how long others wait for the chief
    std::int64_t save_steps = 0;                                    // also every so many steps
    std::int64_t summary_steps = 100;
    std::int64_t log_steps = 100; // logs steps per second; 0: no log
    bool stop_at_signals = true;  // SIGINT and SIGTERM end the session after the step that runs
    rill::scaffold scaffold = {};
    session_options session = {};
};

/// A session that manages itself. It restores the newest checkpoint or initialises, starts queue runners, saves, writes summaries, and ends
/// by itself:
///
///     monitored_session m({.checkpoint_dir = "run", .save_every = 600s, .summary_dir = "logs"});
///     while (!m.should_stop()) m.run(train);
///
/// A run that ends with `aborted` or `unavailable` opens a new session, restores the last checkpoint and runs again. Other errors end it.
/// In a cluster (`target`) one worker is the chief. The others wait until the chief has initialised or restored the variables.
class monitored_session {
public:
    /// Opens a session on the current graph. It is a template, so that programs without monitored sessions do not have the kernels of its
    /// nodes.
    template <std::same_as<monitored_session_options> Given = monitored_session_options>
    explicit monitored_session(const Given& options = {}) : monitored_session(options, prepare<>(options)) {}
    monitored_session(const monitored_session&) = delete;
    /// Closes the session. Logs the error that close() would throw. If an error ends the scope, nothing is saved.
    ~monitored_session();

    /// Returns true once a stop was asked for: by a hook, a signal, request_stop, the end of the input or an error.
    bool should_stop() const;
    void request_stop();
    /// Returns the global step. After the loss of a task this is the step of the new session.
    std::int64_t global_step() const;
    const rill::session& session() const;

    /// Runs a step as session::run does, and fetches the tensors of the hooks as well. The end of the input (out_of_range) asks for a stop.
    /// It is thrown only if the call returns a value. Throws failed_precondition after a stop.
    template <class X, any_feed... F>
        requires is_fetchable<X>
    auto run(const X& what, F&&... feeds) {
        return run_step<returns_nothing<X>>([&](const std::vector<any_tensor>& more) {
            auto got = session().run(std::tuple<X, std::vector<any_tensor>>(what, more), std::forward<F>(feeds)...);
            return split_last(std::move(got), std::bool_constant<!returns_nothing<X>>());
        });
    }
    template <class... X, any_feed... F>
        requires(is_fetchable<X> && ...)
    auto run(const std::tuple<X...>& what, F&&... feeds) {
        return run_step<(returns_nothing<X> && ...)>([&](const std::vector<any_tensor>& more) {
            auto got = session().run(std::tuple_cat(what, std::tuple<std::vector<any_tensor>>(more)),
                                     std::forward<F>(feeds)...);
            return split_last(std::move(got), std::false_type());
        });
    }

    /// Ends the session: saves, flushes summaries, stops queue runners and closes. Throws the errors of hooks and queue runners.
    void close();

private:
    struct state;
    /// Adds the nodes that a session needs.
    template <class... Unused> static monitored_session_options prepare(const monitored_session_options& options) {
        auto complete = options;
        get_or_create_global_step();
        if (!complete.scaffold.init) complete.scaffold.init = global_variables_initializer();
        if (!complete.scaffold.local_init)
            complete.scaffold.local_init = group(local_variables_initializer(), tables_initializer());
        if (!complete.summary_dir.empty() && !complete.scaffold.summary &&
            !current_graph().collection(collections::summaries).empty())
            complete.scaffold.summary = merged_summaries();
        return complete;
    }
    monitored_session(const monitored_session_options& given, const monitored_session_options& complete);

    template <class... V, class Single> static auto split_last(std::tuple<V...>&& got, Single) {
        constexpr std::size_t n = sizeof...(V) - 1;
        auto rest = [&]<std::size_t... I>(std::index_sequence<I...>) {
            if constexpr (Single::value)
                return std::get<0>(std::move(got));
            else
                return std::tuple(std::get<I>(std::move(got))...);
        }(std::make_index_sequence<n>());
        return std::pair(std::move(rest), std::get<n>(std::move(got)));
    }

    template <bool Quiet, class Step> auto run_step(const Step& step) {
        using result = typename std::invoke_result_t<const Step&, const std::vector<any_tensor>&>::first_type;
        std::optional<result> value;
        const bool done = run_with_hooks(
            [&](const std::vector<any_tensor>& more) {
                auto [mine, others] = step(more);
                value = std::move(mine);
                return std::vector<any_array>(std::move(others));
            },
            Quiet);
        if constexpr (!Quiet) {
            (void)done; // the end of the input was thrown
            return std::move(*value);
        }
    }
    /// Runs the hooks around a step. At the end of the input it returns false if `quiet`, else it throws.
    bool run_with_hooks(const std::function<std::vector<any_array>(const std::vector<any_tensor>&)>& step, bool quiet);

    std::unique_ptr<state> state_;
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/train/monitored_session.ipp>
#endif
