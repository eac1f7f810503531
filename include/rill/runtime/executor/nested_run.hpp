// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <rill/core/any_array.hpp>
#include <rill/device/kernel.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class completion_queue;

/// A run that has nested runs.
class parent_run {
public:
    /// Handles the end of nested run `number`. Its errors are reported as errors of the outermost run.
    virtual void nested_done(std::size_t number, std::vector<any_array> results) = 0;
    /// Rethrows the current exception, thrown by nested run `number`, as an error of the outermost run.
    [[noreturn]] virtual void rethrow_nested(std::size_t number) const = 0;

protected:
    ~parent_run() = default;
};

/// A nested run: part of another run, and of its step.
class nested_run {
public:
    virtual ~nested_run() = default;
    /// Returns the results if the run ends at once. Otherwise it calls `outer.nested_done` later, which may destroy *this.
    virtual std::optional<std::vector<any_array>> begin(parent_run& outer, std::size_t number, completion_queue& events,
                                                        const step_context& context) = 0;
};
}}} // namespace rill::RILL_ABI::detail
