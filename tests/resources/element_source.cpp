// SPDX-License-Identifier: BSD-3-Clause
#include <rill/resources/element_source.hpp>

#include "catch.hpp"

using namespace rill;
using namespace rill::detail;

namespace test_element_source {

/// An iterator that is called while nobody waits; the next step begins to wait before the pull ends.
class late_iterator final : public element_iterator {
public:
    explicit late_iterator(std::atomic<bool>& abandoned) : abandoned_(abandoned) {}
    bool next(element_arrays&, const pull_context& context) override {
        abandoned_ = true;
        try {
            context.check();
        } catch (...) {
            abandoned_ = false;
            throw;
        }
        return true;
    }
    void save(iterator_archive&) override {}
    void restore(iterator_archive&, const pull_context&) override {}

private:
    std::atomic<bool>& abandoned_;
};

TEST_CASE("element_source: an abandoned pull is not the error of an element, though another step waits by then") {
    std::atomic<bool> abandoned{false};
    late_iterator from(abandoned);
    CHECK_THROWS_AS(pull(from, {environment::real(), nullptr, &abandoned}), pull_abandoned);
    CHECK_FALSE(abandoned);
}

} // namespace test_element_source
