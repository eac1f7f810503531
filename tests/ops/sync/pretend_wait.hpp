// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <rill/device/kernel.hpp>

// A step that waits, for tests of what it waits for.

namespace sync_test {

class pretend_wait final : public rill::async_context {
public:
    rill::completion defer(std::function<bool()> give_up) override {
        asked = true;
        give_up_ = std::move(give_up);
        return [state = state_](std::exception_ptr problem, std::vector<rill::any_array> outputs) {
            *state = {true, std::move(problem), std::move(outputs)};
        };
    }
    bool came() const { return state_->came; }
    std::exception_ptr problem() const { return state_->problem; }
    const std::vector<rill::any_array>& outputs() const { return state_->outputs; }
    bool give_up() { return give_up_(); }

    bool asked = false;

private:
    struct result {
        bool came = false;
        std::exception_ptr problem = {};
        std::vector<rill::any_array> outputs = {};
    };
    std::shared_ptr<result> state_ = std::make_shared<result>();
    std::function<bool()> give_up_;
};

} // namespace sync_test
