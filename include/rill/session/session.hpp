// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/vector.hpp>
#include <rill/runtime/trace/trace.hpp>
#include <rill/session/callable.hpp>
#include <rill/session/fetch.hpp>

#include <concepts>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace rill { inline namespace RILL_ABI {

class session;

namespace detail {

/// A finished run with its fed and fetched values.
struct finished_run {
    std::shared_ptr<prepared_run> of;
    std::vector<any_array> fed;
    step_result result;

    finished_run(std::shared_ptr<prepared_run> run, std::vector<any_array> values, std::span<const fetch_place> places,
                 const run_options* how);
    ~finished_run();
};

/// Runs the fetches of a list, with feeds by edge or by name.
finished_run run_once(fetch_list& list, std::span<const feed_value* const> feeds, std::span<const fetch_place> places,
                      const run_options* how);

/// Returns the core of a session.
const std::shared_ptr<session_core>& core_of(const session& s);

/// Opens a session whose state is held by a container set, as in a task of a cluster.
session open_session(const graph& g, const session_options& options, std::shared_ptr<container_set> task);

} // namespace detail

class coordinator; // train/coordinator.hpp
class coordinated_thread;

/// A session runs parts of a graph and keeps the values of its variables. It is thread-safe. Several sessions on one graph are independent.
/// The graph may grow between and during runs.
class session {
public:
    /// Opens a session on the current graph (see graph_scope), or on a given one.
    template <std::same_as<std::source_location> Place = std::source_location>
    session(const Place& where = Place::current()) : session(current_graph(), session_options{}, where) {}
    explicit session(const rill::graph& g, const session_options& options = {},
                     const std::source_location& where = std::source_location::current())
        : core_(detail::make_session_core(g, options)) {
        core_->set_opened_at(where);
    }
    /// Opens a session on the current graph, with options: session s({.intra_op_threads = 1}).
    explicit session(const session_options& options,
                     const std::source_location& where = std::source_location::current())
        : session(current_graph(), options, where) {}
    session(const session&) = delete;
    session& operator=(const session&) = delete;
    ~session() { close({}); }

    /// Closes the session: later runs, and calls of its callables, throw `cancelled` with the place of this call.
    void close(const std::source_location& where = std::source_location::current()) noexcept { core_->close(where); }
    const rill::graph& graph() const noexcept { return core_->graph(); }

    /// Empties the named containers (all if none is named) and closes the sessions that use them. It acts in this process, or in all tasks
    /// of a server's cluster (`target`). A server may require the client's keys (`security`). Throws unavailable or deadline_exceeded if a
    /// task does not answer in time.
    static void reset(const std::string& target = {}, const std::vector<std::string>& containers = {},
                      std::chrono::nanoseconds timeout = std::chrono::seconds(30),
                      const credentials_option& security = {}) {
        detail::reset_containers(target, containers, timeout, security);
    }

    /// Returns the graph with the values of its variables in this session: see with_values.
    valued_graph variable_values() const;

    /// Returns a report of the memory of variables and of one step of each plan, with its lower bound.
    std::string memory_report() const { return core_->memory_report(); }
    /// Returns the devices on which the session can place nodes.
    std::vector<session_device> devices() const { return core_->devices(); }

    /// Returns the parts of a run between its devices, or the session's graph if there is one part. Example: for (auto& p :
    /// s.partition({train}, {x, y})) write_dot(p.graph, p.device + ".dot"). It writes a file for each part to the working folder.
    std::vector<run_part> partition(const std::vector<detail::run_end>& fetches,
                                    const std::vector<detail::run_end>& feeds = {}) const {
        return core_->partition(detail::key_to_cut(fetches, feeds));
    }

    /// Runs a fetch and returns its host value: T for rank 0, otherwise xt::xtensor<T, rank>. A fetch of unknown type returns an any_array.
    /// An operation returns nothing, or by name an any_array that is empty(). A list returns a vector: s.run({a, b}) gives a
    /// std::vector<any_array>.
    template <class X = std::vector<any_tensor>, any_feed... F>
        requires is_fetchable<X>
    auto run(const X& what, F&&... feeds) const {
        return run_list(what, feed_list<F...>{given<F>(feeds)...});
    }
    /// Runs several fetches in one step and returns a tuple; operations add no element.
    template <class... X, any_feed... F>
        requires(is_fetchable<X> && ...)
    auto run(const std::tuple<X...>& what, F&&... feeds) const {
        return run_list(what, feed_list<F...>{given<F>(feeds)...});
    }
    template <class X = std::vector<any_tensor>> auto run(const X& what, const std::vector<feed_value>& feeds) const {
        detail::vector<const feed_value*> all;
        for (const auto& f : feeds) all.push_back(&f);
        return run_list(what, all);
    }
    /// Runs with a timeout or a cancellation token: s.run(y, feed(x, v), {.timeout = 5s, .cancel = token}).
    template <class X = std::vector<any_tensor>> auto run(const X& what, const run_options& how) const {
        return run_list(what, {}, &how);
    }
    template <class X = std::vector<any_tensor>>
    auto run(const X& what, detail::feed_reference a, const run_options& how) const {
        return run_list(what, std::array{a.get()}, &how);
    }
    template <class X = std::vector<any_tensor>>
    auto run(const X& what, detail::feed_reference a, detail::feed_reference b, const run_options& how) const {
        return run_list(what, std::array{a.get(), b.get()}, &how);
    }
    template <class X = std::vector<any_tensor>>
    auto run(const X& what, detail::feed_reference a, detail::feed_reference b, detail::feed_reference c,
             const run_options& how) const {
        return run_list(what, std::array{a.get(), b.get(), c.get()}, &how);
    }
    template <class X = std::vector<any_tensor>>
    auto run(const X& what, detail::feed_reference a, detail::feed_reference b, detail::feed_reference c,
             detail::feed_reference d, const run_options& how) const {
        return run_list(what, std::array{a.get(), b.get(), c.get(), d.get()}, &how);
    }
    template <class X = std::vector<any_tensor>>
    auto run(const X& what, detail::feed_reference a, detail::feed_reference b, detail::feed_reference c,
             detail::feed_reference d, detail::feed_reference e, const run_options& how) const {
        return run_list(what, std::array{a.get(), b.get(), c.get(), d.get(), e.get()}, &how);
    }
    /// Runs with a vector of feeds, for more than five of them.
    template <class X = std::vector<any_tensor>>
    auto run(const X& what, const std::vector<feed_value>& feeds, const run_options& how) const {
        detail::vector<const feed_value*> all;
        for (const auto& f : feeds) all.push_back(&f);
        return run_list(what, all, &how);
    }
    /// Runs as run() does and also returns a trace of the ops and their waits. Tracing changes neither the plan nor the threads.
    template <class X = std::vector<any_tensor>, any_feed... F> auto run_traced(const X& what, F&&... feeds) const {
        step_trace trace;
        const run_options how{.trace = &trace};
        const feed_list<F...> all{given<F>(feeds)...};
        if constexpr (is_valueless<X>) {
            run_list(what, all, &how);
            return trace;
        } else {
            auto value = run_list(what, all, &how);
            return std::pair(std::move(value), std::move(trace));
        }
    }

    /// Prepares a run: make_callable(std::tuple(loss, train), x, y), then auto [l] = step(xs, ys).
    template <class... X, class... In> auto make_callable(const std::tuple<X...>& fetches, const In&... inputs) const {
        return callable<std::tuple<X...>, std::decay_t<decltype(input_handle(inputs))>...>(core_, fetches,
                                                                                           input_handle(inputs)...);
    }
    template <class X, class... In>
        requires is_fetchable<X>
    auto make_callable(const X& fetch, const In&... inputs) const {
        return make_callable(std::tuple<X>(fetch), inputs...);
    }

private:
    friend session detail::open_session(const rill::graph& g, const session_options& options,
                                        std::shared_ptr<detail::container_set> task);
    friend const std::shared_ptr<detail::session_core>& detail::core_of(const session& s);
    friend std::vector<coordinated_thread> start_queue_runners(const session& s, const coordinator& c);

    explicit session(std::shared_ptr<detail::session_core> core) : core_(std::move(core)) {}

    template <class... F> using feed_list = std::array<const feed_value*, sizeof...(F)>;
    template <class F> static const feed_value* given(std::remove_reference_t<F>& feed) {
        static_assert(may_be_fed<F>, "session::run: a feed that borrows its value was kept; keep it as feed_value, "
                                     "which copies the value");
        if constexpr (may_be_fed<F>)
            return detail::feed_reference(static_cast<F&&>(feed)).get();
        else
            return nullptr;
    }

    template <class In> static auto input_handle(const In& input) {
        if constexpr (typed_operand<In>)
            return detail::as_argument(input);
        else
            return any_tensor(input);
    }

    template <class X>
    auto run_list(const X& what, std::span<const feed_value* const> feeds, const run_options* how = nullptr) const {
        detail::fetch_list list(*core_);
        if constexpr (requires { std::tuple_size<X>::value; }) {
            std::apply([&](const auto&... x) { (list.add(x), ...); }, what);
            detail::fetch_arrays<X> into(what);
            const auto run = detail::run_once(list, feeds, into.places_without(list.operations), how);
            return detail::take_values(what, run.result, into, list.operations);
        } else if constexpr (is_valueless<X>) {
            list.add(what);
            detail::run_once(list, feeds, {}, how);
        } else if constexpr (returns_nothing<X>) {
            run_list(std::tuple<X>(what), feeds, how);
        } else {
            list.add(what);
            detail::fetch_arrays<std::tuple<X>> into(std::tuple<const X&>{what});
            const auto run = detail::run_once(list, feeds, into.places_without(list.operations), how);
            detail::value_cursor at{list.operations};
            return detail::take_value(what, run.result, at, std::get<0>(into.all));
        }
    }

    std::shared_ptr<detail::session_core> core_;
};

/// Returns a session's graph with the values of all initialized variables, for export: export_graph(with_values(s), "model.rill"). It
/// includes slots of optimizers. All values come from one step.
inline valued_graph with_values(const session& s) { return s.variable_values(); }

namespace detail {

RILL_EXPORT const session*& default_session_slot();

const session& default_session(const char* who);

} // namespace detail

/// A scope that makes a session the default of this thread, for x.eval() and op.run().
class session_scope : detail::scoped<const session*> {
public:
    explicit session_scope(const session& s) : scoped(detail::default_session_slot(), &s) {}
};

template <class... Feeds>
    requires(sizeof...(Feeds) > 0)
void operation::run(Feeds&&... feeds) const {
    detail::default_session("operation::run").run(*this, std::forward<Feeds>(feeds)...);
}

template <class T, index_t... D> template <class... Feeds> auto tensor<T, D...>::eval(Feeds&&... feeds) const {
    return detail::default_session("eval").run(*this, std::forward<Feeds>(feeds)...);
}

template <class Op, class... Args>
template <class... Feeds>
auto expression<Op, Args...>::eval(Feeds&&... feeds) const {
    return detail::default_session("eval").run(*this, std::forward<Feeds>(feeds)...);
}

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/session/session.ipp>

#include <rill/session/partitioned_run.hpp> // defines register_partitioned_runs
#endif
