// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <rill/device/device_set.hpp>
#include <rill/passes/bundle_edges.hpp>
#include <rill/passes/cost_model.hpp>
#include <rill/passes/region_share.hpp>
#include <rill/passes/subgraph.hpp>

// Partitioning of a placed run. A part is all that runs on one device, or on the devices of one task. Parts read each other's values
// through Receives; the Send directly follows the producer.

namespace rill { inline namespace RILL_ABI {

/// The items that run together.
struct placed_part : part_items {
    const device* where = nullptr; // represents the devices of the part
};

/// A partitioned run. Every fetch of the run belongs to one part.
struct placed_parts {
    std::vector<placed_part> parts;
    std::vector<cross_edge> edges; // by number
    std::vector<std::shared_ptr<const void>> owners = {}; // owners of nodes that are in no graph
};

/// A function that maps a device to the device that represents its part. If it returns its argument, a run is partitioned between all
/// devices. If it returns one device per task, a run is partitioned between tasks.
using part_function = std::function<const device&(const device&)>;

/// A function that returns the device of a node in a body.
using device_of_function = std::function<const device&(const node&)>;

/// A function that compiles the run of a body of a node: placed and sorted, as exchange_inserter requires.
using body_compiler = std::function<subgraph(const body&)>;

namespace detail {
class exchange_insertion;
}

/// A pass that inserts a Send and a Receive for each value that crosses between parts. It numbers the items' parts. One pair serves all
/// readers in a part. Constants and feeds do not cross, since each part has its own. The input is placed and sorted, with variable accesses
/// not ordered yet: the Send is then the reader that precedes the next write. Items that share state (a variable and its writers, a
/// resource and its users) form one part. A node with bodies belongs to the part of their items. If they have several parts, each part gets
/// its own node with its share of the bodies (region_share). In this case run() throws unimplemented if a body uses a resource of another
/// part. Branches and loops made of primitives are nodes with bodies. Other primitives run in the part of their nodes, which must be a
/// single one.
class exchange_inserter {
public:
    /// Makes the pass. Without `compile_body` and `device_of`, bodies run whole, in the part of the node's device.
    exchange_inserter(part_function part_of, const device_set& devices, wire_format wire = wire_format::as_is,
                      body_compiler compile_body = {}, device_of_function device_of = {})
        : part_of_(std::move(part_of)), devices_(devices), wire_(wire), compile_body_(std::move(compile_body)),
          device_of_(std::move(device_of)) {}

    /// Returns the subgraph with sends and receives, sorted; unchanged if there is a single part.
    subgraph run(subgraph g);

    /// Bundles edges; see bundle_edges.
    subgraph bundle(subgraph g);

    /// Delays Receives of large values; see schedule_receives.
    subgraph schedule(subgraph g, const cost_model& costs = {});

    /// Separates the ordered and sorted result into parts. Precondition: run() has made it.
    placed_parts take_apart(const subgraph& g);

    std::size_t part_count() const { return where_.size(); }

private:
    friend detail::exchange_insertion;

    /// Returns the number of the part that a device represents.
    int number_of(const device& d);
    /// Returns the CPU of a part: the device itself, or the first CPU of its task.
    const device* host_of(const device& part) const;
    /// Returns the items of each part. `fetch_parts`: per fetch the part that returns it; null: the part that computes it.
    std::vector<part_items> items_of_parts(const subgraph& g, const std::vector<int>* fetch_parts = nullptr) const;

    const part_function part_of_;
    const device_set& devices_;
    const wire_format wire_;
    const body_compiler compile_body_;
    const device_of_function device_of_;
    bool takes_turns_ = false;
    std::vector<const device*> where_; // per part
    std::vector<cross_edge> edges_;
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/passes/partition.ipp>
#endif
