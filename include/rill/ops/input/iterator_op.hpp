// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <rill/ops/queue/queue_op.hpp>
#include <rill/resources/iterator_state.hpp>

// Shared parts of the iterator ops.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A dataset that an op holds, identified by its number. The number 0 means that the op has no dataset.
struct held_source {
    element_source_ptr source = {};
    std::uint64_t number = 0;

    /// Returns the dataset. Throws unimplemented if the graph was read from a file.
    const element_source_ptr& get() const;
};

/// Assigns a dataset its own number.
held_source numbered_source(element_source_ptr source);

/// Returns the iterator of a node. A one-shot iterator begins at once.
std::shared_ptr<resource> make_iterator(kernel_request& r, const resource_name& place,
                                        const std::vector<tensor_type>& components, const held_source& source);

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
#include <atomic>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD const element_source_ptr& held_source::get() const {
    if (!source)
        throw unimplemented("its dataset belongs to the program which made the graph: datasets are not saved with it");
    return source;
}

RILL_COLD held_source numbered_source(element_source_ptr source) {
    static std::atomic<std::uint64_t> last{0};
    return {std::move(source), ++last};
}

RILL_COLD std::shared_ptr<resource> make_iterator(kernel_request& r, const resource_name& place,
                                                  const std::vector<tensor_type>& components,
                                                  const held_source& source) {
    return r.find_resource(place, iterator_state::described_as(components), [&](const std::string& name, allocator&) {
        auto made = detail::make_shared<iterator_state>(name, components);
        if (source.number != 0) made->initialize(source.get(), {});
        return made;
    });
}

}}} // namespace rill::RILL_ABI::detail
#endif
