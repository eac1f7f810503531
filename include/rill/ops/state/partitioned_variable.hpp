// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <rill/ops/nn/embedding_lookup.hpp>
#include <rill/ops/state/variable.hpp>

namespace rill { inline namespace RILL_ABI {

struct partitioned_variable_options {
    int shards = 1;
    partition_strategy strategy =
        partition_strategy::mod;    // mod: row i is in shard i % shards; div: in contiguous blocks, the first ones longer
    variable_options variable = {}; // options of each shard
};

/// A table [Rows, Width] over several devices: partitioned_variable<float, 1000000, 64> t("t", 0.1f, {.shards = 4}). Each shard is a
/// variable, "t/part_0" and so on, which is trained by rows. A device function places the shards like other variables.
template <class T, index_t Rows, index_t Width> class partitioned_variable {
    static_assert(Rows > 0 && Width > 0, "partitioned_variable: the rows and the width of a table are known numbers");

public:
    using shard = variable<T, dyn, Width>;

    /// Creates the shards. The first value is a number, or an initializer that is called for each shard. Throws invalid_argument unless
    /// there are 1 to Rows shards.
    template <class I>
        requires(variable_initializer<I> || literal<I>)
    partitioned_variable(const std::string& name, const I& value, const partitioned_variable_options& how = {},
                         const std::source_location& where = std::source_location::current())
        : strategy_(how.strategy) {
        if (how.shards < 1 || how.shards > Rows)
            throw invalid_argument("partitioned_variable '" + name + "': there are " + std::to_string(how.shards) +
                                   " shards of " + std::to_string(Rows) +
                                   " rows; 1 shard or more, and a row in each, are required" + detail::at_place(where));
        for (index_t k = 0; k < how.shards; ++k) {
            const index_t rows = Rows / how.shards + (k < Rows % how.shards ? 1 : 0);
            shards_.emplace_back(name + "/part_" + std::to_string(k), dims{rows, Width}, value, how.variable, where);
        }
        // A saver finds the table by this collection, and saves the shards as slices of it.
        const std::string members =
            std::string(collections::partitions) + (strategy_ == partition_strategy::mod ? "mod:" : "div:") +
            std::to_string(Rows) + ":" + std::to_string(how.shards) + ":" + shards_[0].node()->name;
        for (const auto& s : shards_) s.graph().add_to_collection(members, s.end());
    }

    const std::vector<shard>& shards() const noexcept { return shards_; }
    partition_strategy strategy() const noexcept { return strategy_; }

private:
    std::vector<shard> shards_;
    partition_strategy strategy_;
};

/// Returns the rows of a table that ids select, in their order. Each shard gathers its own rows, so that only ids and rows cross between
/// tasks. Gradients are rows of each shard.
template <class T, index_t Rows, index_t Width, typed_operand Ids>
auto gather(const partitioned_variable<T, Rows, Width>& table, const Ids& ids,
            const std::source_location& where = std::source_location::current()) {
    return embedding_lookup(table.shards(), ids, {.strategy = table.strategy()}, where);
}

}} // namespace rill::RILL_ABI
