// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Random programs with state, whose nodes are placed by chance: what a session gives that cuts them between devices is what one gives
// that does not, bit by bit.

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <rill/rill.hpp>

#include "ops/harness.hpp"
#include "seeds.hpp"
#include "without_emitter.hpp"

namespace random_parts {

using namespace rill;

inline bool same_bits(const any_array& a, const any_array& b) {
    const auto bytes = static_cast<std::size_t>(a.size()) * size_of(a.dtype());
    return a.type() == b.type() && (bytes == 0 || std::memcmp(a.data(), b.data(), bytes) == 0);
}
/// Returns true if the values are the same but for rounding.
inline bool nearly_same(const any_array& a, const any_array& b) {
    return a.type() == b.type() && op_test::far_apart(op_test::reals(a), op_test::reals(b), 1e-9).empty();
}

/// Keeps machine code away, which may round a node in a group otherwise than the node alone (docs/contracts.md). A graph that is cut has
/// other groups. Sums of more than one block still go by what is fused.
using equal_rounding = without_emitter;

/// A function that draws the device of each node.
inline device_function drawn_devices(std::vector<std::string> from, std::uint64_t seed) {
    return [from = std::move(from), draw = std::make_shared<seeds::draws>(seed)](const node_info&) {
        return from[(*draw)(from.size())];
    };
}
inline std::vector<std::string> cpus(std::size_t n) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < n; ++i) all.push_back("/cpu:" + std::to_string(i));
    return all;
}

/// Returns 0, 1 or 3.
inline int drawn_threads(std::uint64_t seed) { return seed % 3 == 2 ? 3 : static_cast<int>(seed % 3); }

inline session_options on_threads(int threads, bool cut, const device_counts& counts = {{"cpu", 4}}) {
    return {.inter_op_threads = threads,
            .intra_op_threads = threads,
            .device_count = counts,
            .partition_devices = cut,
            .progress_timeout = std::chrono::seconds(20)};
}

/// A program over vectors: sums, reads and writes of variables, queues, branches, loops, random numbers, control edges.
class program {
public:
    using value = tensor<double, 3>;

    program(std::uint64_t seed, const device_function& where) : draw_(seed) {
        const device_scope devices(where);
        const placeholder<double, 3> x("x");
        values_ = smooth_ = {x, value(x * 0.5), value(x + 1.)};
        for (int i = 0; i < 3; ++i)
            variables_.emplace_back("v" + std::to_string(i), std::vector<double>{0.5 + i, -1., 0.25 * i});
        const std::size_t count = 10 + draw_(14);
        for (std::size_t k = 0; k < count; ++k) {
            std::optional<control_dependencies> after;
            if (draw_(3) == 0) after.emplace(std::vector<value>{pick()});
            if (!done_.empty() && draw_(3) == 0) after.emplace(std::vector<operation>{done_[draw_(done_.size())]});
            add();
        }
        for (const auto& d : gradients({any_tensor(reduce_sum(smooth_.back() * smooth_[smooth_.size() / 2]))},
                                       {any_tensor(x), any_tensor(variables_[0])}))
            if (d) fetched_.push_back(d);
        const control_dependencies after(done_);
        fetched_.push_back(value(values_.back() * 2.));
        for (const auto& v : values_) fetched_.push_back(v);
        for (const auto& v : variables_) fetched_.push_back(any_tensor(v));
    }

    /// Returns what some steps give, and the variables after each of them.
    std::vector<any_array> outcomes(const session& s, bool few) const {
        std::vector<any_array> all;
        s.run(global_variables_initializer());
        const std::vector<any_tensor> some(fetched_.begin(), fetched_.begin() + 3);
        for (const double by : {0.5, -1.25, 2.}) {
            any_array x(dtype::float64, dims{3});
            for (int i = 0; i < 3; ++i) static_cast<double*>(x.mutable_data())[i] = by / (i + 1);
            for (auto& v : s.run(few ? some : fetched_, feed(any_tensor(values_[0]), x))) all.push_back(std::move(v));
            for (const auto& v : variables_) all.push_back(s.run(any_tensor(v)));
        }
        return all;
    }

private:
    const value& pick() { return values_[draw_(values_.size())]; }

    /// Adds a value or an operation. Gradients flow to `smooth_` ones alone.
    void add() {
        const bool smooth = draw_(2) == 0;
        const auto& from = smooth ? smooth_ : values_;
        const value a = from[draw_(from.size())], b = from[draw_(from.size())];
        const auto& v = variables_[draw_(variables_.size())];
        const auto keep = [&](const value& made) {
            values_.push_back(made);
            if (smooth) smooth_.push_back(made);
        };
        const auto keep_other = [&](const value& made) { values_.push_back(made); };
        switch (draw_(13)) {
        case 0: return keep(value(a + b));
        case 1: return keep(value(a * b * 0.25));
        case 2: return keep(value(tanh(a)));
        case 3: return keep(value(v * 1.5));
        case 4: return keep(identity(v));
        case 5: return keep(value(v + a));
        case 6: return keep_other(value(v.assign(a * 0.5 + b)));
        case 7: return keep_other(value(v.assign_add(tanh(b))));
        case 8: return done_.push_back(operation(value(v.assign_sub(a * 0.125)).node()));
        case 9: {
            const fifo_queue<value> q;
            const auto in = q.enqueue(a);
            done_.push_back(in);
            const control_dependencies after(in);
            return keep_other(q.dequeue());
        }
        case 10:
            return keep(cond(reduce_sum(a) > 0.5, [&] { return value(a * 2. + v); }, [&] { return value(b - 1.); }));
        case 11:
            return keep(while_loop([](const auto& s) { return reduce_sum(square(s)) < 8.; },
                                   [&](const auto& s) { return value(s * 1.5 + b * b + 0.25); }, a));
        default: return keep_other(value(a + random_uniform<double, 3>()));
        }
    }

    seeds::draws draw_;
    std::vector<value> values_, smooth_;
    std::vector<variable<double, 3>> variables_;
    std::vector<operation> done_;
    std::vector<any_tensor> fetched_;
};

} // namespace random_parts
