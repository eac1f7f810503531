// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <rill/core/hash_map.hpp>
#include <rill/distributed/client_session.hpp>
#include <rill/session/local_session_state.hpp>
#include <rill/session/session_core.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A session whose runs are in the tasks of a cluster. It reaches its master by messages, even within one
/// process.
class remote_session_core final : public session_core {
public:
    remote_session_core(const rill::graph& g, std::shared_ptr<client_session> session);
    RILL_INLINE ~remote_session_core() override;

    RILL_INLINE std::shared_ptr<prepared_run> find_run(const plan_key& key, run_options* how = nullptr) override;
    RILL_INLINE void close(const std::source_location& where = {}) noexcept override;
    RILL_INLINE std::string memory_report() override;
    RILL_INLINE bool first_time(const std::string& what) override;
    RILL_INLINE std::vector<session_device> devices() const override;
    RILL_INLINE std::vector<run_part> partition(const plan_key& key) override;
    RILL_INLINE bool has_value(const node* variable) const override;
    RILL_INLINE any_array variable_value(const node* variable) const override;
    /// Runs the variable's initializer with the value as feed.
    RILL_INLINE void restore_variable(const node* variable, const any_array& value) override;
    RILL_INLINE void check_variable(const node* variable, const any_array& value) const override;
    /// Returns the state of queues, tables and random counters in the tasks that the session has used.
    RILL_INLINE std::vector<saved_resource> saved_resources() const override;
    RILL_INLINE void restore_resource(const saved_resource& saved) override;
    RILL_INLINE void keep_others_out(std::span<const node* const> variables) override;
    RILL_INLINE void let_others_in() override;

private:
    std::shared_ptr<prepared_run> run_of(const plan_key& key, run_options* how = nullptr) const;

    const std::shared_ptr<client_session> session_;
    mutable std::mutex mutex_;
    mutable plan_cache runs_;
    hash_set<std::string> done_once_;
    client_session::prepared fenced_; // a run in the tasks from which other sessions are fenced off
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/distributed/remote_session_core.ipp>
#endif
