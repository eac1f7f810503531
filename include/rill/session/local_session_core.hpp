// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <rill/device/device.hpp>
#include <rill/session/session_core.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class variable_state;
struct local_session_state;

/// A session in this process.
class local_session_core final : public session_core {
public:
    /// Opens the session; `task`: see make_session_core.
    local_session_core(const rill::graph& g, const session_options& options,
                       std::shared_ptr<container_set> task = nullptr);
    RILL_INLINE ~local_session_core() override;

    /// Returns the default device, for nodes that name none. It is fixed at construction, because variables stay where they are.
    const rill::device& device() const noexcept { return device_; }
    bool closed() const noexcept;

    RILL_INLINE std::shared_ptr<prepared_run> find_run(const plan_key& key, run_options* how = nullptr) override;
    RILL_INLINE void close(const std::source_location& where = {}) noexcept override;
    RILL_INLINE std::string memory_report() override;
    RILL_INLINE bool first_time(const std::string& what) override;
    RILL_INLINE std::vector<session_device> devices() const override;
    RILL_INLINE std::vector<run_part> partition(const plan_key& key) override;
    RILL_INLINE bool has_value(const node* variable) const override;
    RILL_INLINE any_array variable_value(const node* variable) const override;
    RILL_INLINE void restore_variable(const node* variable, const any_array& value) override;
    RILL_INLINE std::vector<saved_resource> saved_resources() const override;
    RILL_INLINE void restore_resource(const saved_resource& saved) override;
    RILL_INLINE void check_variable(const node* variable, const any_array& value) const override;
    RILL_INLINE void check_resource(const saved_resource& saved) const override;

    /// Binds a variable to a state that may be shared. Call it before a plan with this variable is bound.
    void share(const node* variable, const std::shared_ptr<variable_state>& value);
    /// Returns the state of a variable, or null before its first use.
    std::shared_ptr<variable_state> shared(const node* variable);

private:
    session_options options_;
    std::shared_ptr<local_session_state> state_; // shared with the runs
    const rill::device& device_;                 // owned by the state
};

std::shared_ptr<local_session_core> make_local_session_core(const rill::graph& g, const session_options& options,
                                                            std::shared_ptr<container_set> task = nullptr);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/session/local_session_core.ipp>
#endif
