// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/launchers.hpp>

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <utility>

#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

#include <rill/core/error.hpp>
#include <rill/distributed/transport.hpp>
#include <rill/distributed/transports.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

inline int number_of(std::string_view text, std::string_view what) {
    int n = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (problem != std::errc() || end != text.data() + text.size() || n < 0)
        throw invalid_argument("from_environment: " + std::string(what) + " is '" + std::string(text) +
                               "', not a number");
    return n;
}

// ---- TF_CONFIG -----------------------------------------------------------------------------------------------------------

/// A reader of the JSON of TF_CONFIG. It skips unknown members.
class tf_config_reader {
public:
    explicit tf_config_reader(std::string_view text) : rest_(text) {}

    launched_task read() {
        launched_task t;
        std::vector<cluster_spec::job> jobs;
        members([&](const std::string& name) {
            if (name == "cluster") {
                members([&](const std::string& job) { jobs.push_back({job, addresses()}); });
            } else if (name == "task") {
                members([&](const std::string& member) {
                    if (member == "type")
                        t.job = text();
                    else if (member == "index")
                        t.task = number_of(next() == '"' ? text() : word(), "the index of the task in TF_CONFIG");
                    else
                        skip();
                });
            } else {
                skip();
            }
        });
        t.cluster = cluster_spec(std::move(jobs));
        return t;
    }

private:
    [[noreturn]] static void refuse(const std::string& expected) {
        throw invalid_argument("from_environment: TF_CONFIG can't be read: " + expected + " is expected");
    }
    char next() {
        while (!rest_.empty() && std::string_view(" \t\r\n").find(rest_[0]) != std::string_view::npos)
            rest_.remove_prefix(1);
        return rest_.empty() ? '\0' : rest_[0];
    }
    bool take(char c) {
        if (next() != c) return false;
        rest_.remove_prefix(1);
        return true;
    }
    void expect(char c) {
        if (!take(c)) refuse(std::string("'") + c + "'");
    }
    std::string text() {
        expect('"');
        std::string t;
        while (!rest_.empty() && rest_[0] != '"') {
            if (rest_[0] == '\\') rest_.remove_prefix(1); // names and addresses have no other escapes than \" \\ \/
            if (rest_.empty()) break;
            t += rest_[0];
            rest_.remove_prefix(1);
        }
        expect('"');
        return t;
    }
    /// Returns a number, true, false or null in its textual form.
    std::string_view word() {
        next();
        const auto w = rest_.substr(0, rest_.find_first_of(" \t\r\n,]}"));
        if (w.empty()) refuse("a value");
        rest_.remove_prefix(w.size());
        return w;
    }
    template <class F> void list(char open, char end, const F& element) {
        expect(open);
        if (take(end)) return;
        do element();
        while (take(','));
        expect(end);
    }
    template <class F> void members(const F& f) {
        list('{', '}', [&] {
            const auto name = text();
            expect(':');
            f(name);
        });
    }
    /// Reads a list, or an object keyed by task numbers: {"0": "a:2222", "2": "b:2222"} has no address for task 1.
    std::vector<std::string> addresses() {
        std::vector<std::string> all;
        if (next() == '[')
            list('[', ']', [&] { all.push_back(text()); });
        else
            members([&](const std::string& task) {
                if (number_of(task, "a task in TF_CONFIG") != static_cast<int>(all.size()))
                    refuse("task " + std::to_string(all.size()));
                all.push_back(text());
            });
        return all;
    }
    void skip(int depth = 0) {
        if (depth > 64) refuse("less nesting");
        switch (next()) {
        case '{': return members([&](const std::string&) { skip(depth + 1); });
        case '[': return list('[', ']', [&] { skip(depth + 1); });
        case '"': text(); return;
        default: word();
        }
    }

    std::string_view rest_;
};

RILL_COLD launched_task task_of_tf_config(std::string_view json) { return tf_config_reader(json).read(); }

// ---- Slurm ---------------------------------------------------------------------------------------------------------------

/// Appends the names that a text with [ranges] denotes.
inline void expand_nodes(const std::string& before, std::string_view text, std::vector<std::string>& all) {
    constexpr std::size_t most = 100'000;
    const auto open = text.find('['), end = text.find(']');
    if (open == std::string_view::npos) {
        if (all.size() == most) throw invalid_argument("from_environment: the list of nodes is too long");
        all.push_back(before + std::string(text));
        return;
    }
    if (end == std::string_view::npos || end < open)
        throw invalid_argument("from_environment: the list of nodes has an open '['");
    auto ranges = text.substr(open + 1, end - open - 1);
    while (!ranges.empty()) {
        const auto range = ranges.substr(0, ranges.find(','));
        ranges.remove_prefix(std::min(ranges.size(), range.size() + 1));
        const auto first = range.substr(0, range.find('-'));
        const auto last = first.size() == range.size() ? first : range.substr(first.size() + 1);
        for (int n = number_of(first, "a node"); n <= number_of(last, "a node"); ++n) {
            auto digits = std::to_string(n);
            if (digits.size() < first.size()) digits.insert(0, first.size() - digits.size(), '0');
            expand_nodes(before + std::string(text.substr(0, open)) + digits, text.substr(end + 1), all);
        }
    }
}

RILL_COLD std::vector<std::string> nodes_of_list(std::string_view list) {
    std::vector<std::string> all;
    while (!list.empty()) {
        std::size_t end = 0; // the comma outside of brackets
        for (bool inside = false; end < list.size() && (inside || list[end] != ','); ++end)
            inside = list[end] == '[' || (inside && list[end] != ']');
        expand_nodes("", list.substr(0, end), all);
        list.remove_prefix(std::min(list.size(), end + 1));
    }
    return all;
}

RILL_COLD std::vector<int> counts_of_list(std::string_view list) {
    std::vector<int> all;
    while (!list.empty()) {
        auto one = list.substr(0, list.find(','));
        list.remove_prefix(std::min(list.size(), one.size() + 1));
        int times = 1;
        if (const auto open = one.find("(x"); open != std::string_view::npos) {
            times = number_of(one.substr(open + 2, one.size() - open - 3), "a number of nodes");
            one = one.substr(0, open);
        }
        if (all.size() + static_cast<std::size_t>(times) > 100'000)
            throw invalid_argument("from_environment: the list of tasks is too long");
        all.insert(all.end(), static_cast<std::size_t>(times), number_of(one, "a number of tasks"));
    }
    return all;
}

/// Returns the cluster of all processes, the first of which are parameter servers.
inline launched_task task_of_rank(std::vector<std::string> addresses, int rank, const launch_options& options) {
    const auto size = static_cast<int>(addresses.size());
    if (rank >= size || options.ps < 0 || options.ps > size)
        throw invalid_argument("from_environment: process " + std::to_string(rank) + " of " + std::to_string(size) +
                               ", with " + std::to_string(options.ps) + " parameter servers");
    const auto middle = addresses.begin() + options.ps;
    std::vector<cluster_spec::job> jobs;
    if (options.ps > 0) jobs.push_back({"ps", {addresses.begin(), middle}});
    if (options.ps < size) jobs.push_back({"worker", {middle, addresses.end()}});
    const bool serves = rank < options.ps;
    return {cluster_spec(std::move(jobs)), serves ? "ps" : "worker", serves ? rank : rank - options.ps};
}

inline std::string address_at(const std::string& host, int port) { return host + ":" + std::to_string(port); }

inline launched_task task_of_slurm(const variable_lookup& variable, const launch_options& options) {
    const auto either = [&](const char* of_step, const char* of_job) {
        auto v = variable(of_step);
        return v.empty() ? variable(of_job) : v;
    };
    const auto nodes = nodes_of_list(either("SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"));
    const auto counts = counts_of_list(either("SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"));
    if (nodes.empty() || nodes.size() != counts.size())
        throw invalid_argument("from_environment: Slurm names " + std::to_string(nodes.size()) +
                               " nodes, and says how many tasks " + std::to_string(counts.size()) + " nodes have");
    std::vector<std::string> addresses;
    for (std::size_t i = 0; i < nodes.size(); ++i)
        for (int k = 0; k < counts[i]; ++k) addresses.push_back(address_at(nodes[i], options.port + k));
    return task_of_rank(std::move(addresses), number_of(variable("SLURM_PROCID"), "SLURM_PROCID"), options);
}

// ---- mpirun --------------------------------------------------------------------------------------------------------------

RILL_COLD std::vector<std::string> exchange_addresses(const std::string& rendezvous, int rank, int size,
                                                      const std::string& own, const launch_options& options) {
    struct meeting {
        std::mutex mutex;
        std::condition_variable changed;
        std::vector<std::string> addresses;
        std::vector<bool> knows_all;
        std::size_t missing = 0, unaware = 0;
    };
    const auto all = std::make_shared<meeting>();
    const auto count = static_cast<std::size_t>(size);
    all->addresses.resize(count);
    all->knows_all.resize(count);
    all->addresses.at(static_cast<std::size_t>(rank)) = own;
    all->missing = all->unaware = count - 1;
    const auto net = make_transport(rendezvous, options.security);
    const auto until = std::chrono::steady_clock::now() + options.wait;
    std::unique_lock lock(all->mutex);
    if (rank != 0) {
        const auto to = net->connect(rendezvous, [all, count](transport::connection, const message_parts& m) {
            const std::lock_guard inner(all->mutex);
            if (m.size() != count) return;
            for (std::size_t i = 0; i < count; ++i) all->addresses[i] = m[i].bytes();
            all->missing = 0;
            all->changed.notify_all();
        });
        const auto says = [&](const char* what) {
            net->send(to, {message_part(std::string(what)), message_part(std::to_string(rank)), message_part(own)});
        };
        while (all->missing > 0 && std::chrono::steady_clock::now() < until) {
            says("here");
            all->changed.wait_for(lock, std::chrono::milliseconds(200));
        }
        if (all->missing > 0)
            throw deadline_exceeded("from_environment: process 0 does not give the addresses of all processes at " +
                                    rendezvous);
        says("done");
        return all->addresses;
    }
    net->listen(rendezvous, [all, count, to = std::weak_ptr(net)](transport::connection from, const message_parts& m) {
        const std::lock_guard inner(all->mutex);
        int who = 0;
        const auto text = m.size() == 3 ? m[1].bytes() : std::string_view();
        std::from_chars(text.data(), text.data() + text.size(), who);
        if (who <= 0 || static_cast<std::size_t>(who) >= count || m[2].size() == 0) return;
        const auto i = static_cast<std::size_t>(who);
        if (all->addresses[i].empty()) --all->missing;
        all->addresses[i] = m[2].bytes();
        if (m[0].bytes() == "done" && !all->knows_all[i]) {
            all->knows_all[i] = true;
            --all->unaware;
        }
        if (const auto back = to.lock(); back && all->missing == 0 && m[0].bytes() == "here") {
            message_parts answer;
            for (const auto& a : all->addresses) answer.emplace_back(a);
            back->send(from, std::move(answer));
        }
        all->changed.notify_all();
    });
    all->changed.wait_until(lock, until, [&] { return all->missing == 0; });
    if (all->missing > 0) {
        std::string missing;
        for (std::size_t i = 1; i < count; ++i)
            if (all->addresses[i].empty()) missing += (missing.empty() ? "" : ", ") + std::to_string(i);
        throw deadline_exceeded("from_environment: the processes " + missing + " have not come to " + rendezvous);
    }
    constexpr std::chrono::seconds farewell{3}; // processes that did not get the addresses ask again
    all->changed.wait_for(lock, farewell, [&] { return all->unaware == 0; });
    return all->addresses;
}

inline std::string host_name() {
#if defined(__unix__) || defined(__APPLE__)
    char name[256] = {};
    if (gethostname(name, sizeof name - 1) == 0) return name;
#endif
    throw unimplemented("from_environment: the name of this machine is not known; set RILL_HOST");
}

inline launched_task task_of_mpirun(const variable_lookup& variable, const launch_options& options) {
    const auto first_of = [&](std::initializer_list<const char*> names) {
        for (const auto* n : names)
            if (auto v = variable(n); !v.empty()) return v;
        return std::string();
    };
    const int rank = number_of(first_of({"OMPI_COMM_WORLD_RANK", "PMI_RANK"}), "the rank");
    const int size = number_of(first_of({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}), "the number of processes");
    const auto local_rank = first_of({"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID"});
    const auto local_size = first_of({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"});
    const auto rendezvous = variable("RILL_RENDEZVOUS");
    if (rank >= size)
        throw invalid_argument("from_environment: process " + std::to_string(rank) + " of " + std::to_string(size));
    if (!rendezvous.empty()) {
        auto host = variable("RILL_HOST");
        if (host.empty()) host = host_name();
        const int port = options.port + (local_rank.empty() ? rank : number_of(local_rank, "the local rank"));
        return task_of_rank(exchange_addresses(rendezvous, rank, size, address_at(host, port), options), rank, options);
    }
    if (!local_size.empty() && number_of(local_size, "the number of local processes") != size)
        throw invalid_argument(
            "from_environment: the processes run on several machines, and mpirun does not tell their "
            "addresses: set RILL_RENDEZVOUS to a host:port of the machine of process 0");
    std::vector<std::string> addresses;
    for (int i = 0; i < size; ++i) addresses.push_back(address_at("127.0.0.1", options.port + i));
    return task_of_rank(std::move(addresses), rank, options);
}

RILL_COLD launched_task read_launch(const variable_lookup& variable, const launch_options& options) {
    launched_task t;
    if (const auto json = variable("TF_CONFIG"); !json.empty())
        t = task_of_tf_config(json);
    else if (!variable("SLURM_PROCID").empty())
        t = task_of_slurm(variable, options);
    else if (!variable("OMPI_COMM_WORLD_RANK").empty() || !variable("PMI_RANK").empty())
        t = task_of_mpirun(variable, options);
    else
        throw not_found("from_environment: none of TF_CONFIG, SLURM_PROCID, OMPI_COMM_WORLD_RANK and PMI_RANK is set");
    (void)t.cluster.address({t.job, 0, t.task, "", -1}); // throws if there is no such task
    return t;
}

} // namespace detail

RILL_COLD launched_task from_environment(const launch_options& options) {
    return detail::read_launch(
        [](const std::string& name) {
            const char* const v = std::getenv(name.c_str());
            return std::string(v ? v : "");
        },
        options);
}

}} // namespace rill::RILL_ABI
