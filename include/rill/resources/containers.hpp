// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <rill/core/resource.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class resource_store;

/// What sessions of this process share: resources by container, name and kind. They stay until their container is reset.
class shared_resources {
public:
    static shared_resources& of_process();

    /// The resource of that name, made if there is none; `user` is closed when its container is reset. Throws invalid_argument if the
    /// one that is there says another thing of itself.
    std::shared_ptr<resource> find(const resource_name& name, const std::string& node, const std::string& described,
                                   const std::function<std::shared_ptr<resource>(const std::string& name)>& make,
                                   const std::weak_ptr<resource_store>& user);

    /// Empties these containers (none named: all): who waits for something in them is told `cancelled`, sessions that use one end.
    void reset(const std::vector<std::string>& containers);

private:
    struct state;
    shared_resources();

    std::unique_ptr<state> state_;
};

/// The word that `described` begins with.
std::string kind_of(const std::string& described);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/resources/containers.ipp>
#endif
