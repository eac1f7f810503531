// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <rill/core/resource.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class resource_store;

/// The resources that sessions of this process share, by container, name and kind. A resource stays until its container is reset.
class shared_resources {
public:
    static shared_resources& of_process();

    /// Returns the resource of that name, made by `make` if it is missing. The session of `user` ends when the container is reset. Throws
    /// invalid_argument if the existing resource has another description.
    std::shared_ptr<resource> find(const resource_name& name, const std::string& node, const std::string& described,
                                   const std::function<std::shared_ptr<resource>(const std::string& name)>& make,
                                   const std::weak_ptr<resource_store>& user);

    /// Empties the named containers, or all if none is named. Waiters on their resources fail with `cancelled`. Sessions that use one of
    /// the containers end.
    void reset(const std::vector<std::string>& containers);

private:
    struct state;
    shared_resources();

    std::unique_ptr<state> state_;
};

/// Returns the first word of `described`, or "Queue" for every kind of queue.
std::string kind_of(const std::string& described);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/resources/shared_resources.ipp>
#endif
