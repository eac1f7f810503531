// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rill/session/local_session_state.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class partitioned_plan;

/// A partitioned run of a session in this process (session_options::partition_devices).
class partitioned_run final : public prepared_run, public std::enable_shared_from_this<partitioned_run> {
public:
    partitioned_run(std::unique_ptr<partitioned_plan> of, std::shared_ptr<local_session_state> session);
    RILL_INLINE ~partitioned_run() override;

    RILL_INLINE step_result run(std::span<const any_array> feeds, std::span<const fetch_place> places,
                                const run_options* how) override;
    RILL_INLINE void start(std::vector<any_array> feeds, const run_options& how, completion done) override;
    RILL_INLINE std::string memory_report() override;
    RILL_INLINE void close() noexcept override;
    RILL_INLINE std::vector<run_part> parts() const override;
    const partitioned_plan& plan() const { return *plan_; }

private:
    class started;

    const std::shared_ptr<local_session_state> session_;
    const std::unique_ptr<partitioned_plan> plan_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/session/partitioned_run.ipp>
#endif
