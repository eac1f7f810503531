// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include <rill/core/hash_map.hpp>
#include <rill/graph/op/exchange_ops.hpp>
#include <rill/passes/region_share.hpp>

namespace rill { inline namespace RILL_ABI {

class exchange_inserter;

namespace detail {

/// One application of exchange_inserter: to a run, or to a body of a partitioned node.
class exchange_insertion {
public:
    exchange_insertion(exchange_inserter& of, subgraph g);
    ~exchange_insertion();

    /// Finds the device that represents the part of each item, in nested bodies too.
    void find_homes();
    /// Inserts the exchanges. `fetch_parts`: per fetch the part that needs it, in addition to its own; empty: none.
    subgraph run(const std::vector<int>& fetch_parts = {});

private:
    /// A node with bodies.
    struct region_cut {
        std::vector<std::unique_ptr<exchange_insertion>> bodies;
        std::vector<const device*> devices; // one for each part that has items of the bodies, in order of first use
        std::vector<const device*> results; // per result, if there are several parts: where the value is computed
        bool is_functionalized = false;     // bodies made of primitives: even a single part gets its own bodies
    };
    /// The share of a part in a node with bodies.
    struct item_share {
        int part = -1;
        op_ptr op;
        std::shared_ptr<region_share> share;
        int item = -1; // set once it is inserted
    };

    // ---- ports of items; below 0 are control edges: -1 of an ordinary item, -1 - k of share k -----------------------------
    static constexpr int control = -1;
    int control_of(int from, int port) const;
    int part_at(int from, int port) const;
    /// Returns the new value that replaces a port of an old item, in the part that computes it.
    subgraph::value made_at(int from, int port) const;
    tensor_type type_at(int from, int port) const;
    bool crosses(int from, int port, int to) const { return part_at(from, port) >= 0 && part_at(from, port) != to; }

    // ---- bodies (insert_exchanges_in_bodies.ipp) --------------------------------------------------------------------------------------------------
    bool is_split(int i) const { return cuts_[i] && (cuts_[i]->devices.size() > 1 || cuts_[i]->is_functionalized); }
    /// Finds the parts of a node's bodies. `otherwise` is the node's device if no item of its bodies has a part.
    std::unique_ptr<region_cut> cut_of(const node& n, const device& otherwise);
    /// Returns the part of all nodes that run as primitives on the dataflow executor; null if they have several.
    const device* part_of_primitives(const node& n) const;
    /// Returns the device where a result of a body is computed; null if each part has the value.
    const device* home_of_result(const body& b, std::size_t result) const;
    /// Keeps a fed argument of a body in one part.
    void keep_feed(int feed, const device& home);
    /// Makes the shares of an item from its partitioned bodies.
    void split(int i);
    item_share make_share(int i, int part, std::vector<std::vector<part_items>>& bodies) const;
    void insert_shares(int i);
    void check_share(int i, const item_share& p) const;

    // ---- exchanges ------------------------------------------------------------------------------------------------------------------
    void number_parts();
    bool varies(int item) const;
    void find_crossing(const std::vector<int>& fetch_parts);
    static void order_after(subgraph::item& it, const std::vector<int>& more);
    std::vector<int> shares_of(int item) const;
    void wait_for(small_vector<int, 4>& after, int a, int to);
    subgraph::value read(const subgraph::value& v, int to, const small_vector<int, 4>& after);
    subgraph::value pair(int from, int port, int to, const std::vector<int>& waits);
    wire_format wire_of(int from, int port) const;
    int exchange(subgraph::item send, const tensor_type& type, int to, wire_format wire);
    int add(subgraph::item it);
    subgraph::value shape_of(const subgraph::value& v, int to);
    any_array repeated_value(int item) const;
    subgraph::value repeated(const subgraph::value& v, const any_array& value);
    int returned(int a, int to);
    const device* host_of(int part) const;

    exchange_inserter& of_;
    const exchange_ops& ops_;
    subgraph g_;
    std::vector<const device*>
        homes_; // per old item: represents its part; null: each part has the value, or the item is split
    std::vector<std::unique_ptr<region_cut>> cuts_; // per old item
    std::vector<std::vector<item_share>> shares_;   // per old item
    detail::vector<subgraph::item> items_;
    std::vector<int> now_;                                // per old item
    std::vector<std::vector<std::pair<int, int>>> eager_; // per old item: ports and parts that need it
    hash_map<const node*, bool> variables_written_;
    std::map<std::tuple<int, int, int, std::vector<int>>, int> pairs_; // receives
    std::map<std::tuple<int, int, int>, int> shape_sources_;           // by old item, port and part
    std::map<int, int> repeated_;                                      // by old item
};

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/passes/insert_exchanges.ipp>
#include <rill/passes/insert_exchanges_in_bodies.ipp>
#endif
