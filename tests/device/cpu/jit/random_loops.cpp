// SPDX-License-Identifier: BSD-3-Clause
// Random loops over numbers of all types as machine code, compared by bits with plain C++.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <tuple>
#include <variant>
#include <vector>

#include <rill/ops/catalogue.hpp>
#include <rill/rill.hpp>

#include "catch.hpp"
#include "device/cpu/jit/loop_machine.hpp"
#include "seeds.hpp"

using namespace rill;

namespace test_device_cpu_jit_random_loops {

using namespace loop_machine;

using number = std::variant<float, double, std::int32_t, std::int64_t, bool>;
using numbers = std::vector<number>;
constexpr std::size_t types = 4; // of numbers; the last alternative are truth values
constexpr std::size_t truth = 4;

template <class F> auto with_type(std::size_t type, const F& f) {
    switch (type) {
    case 0: return f(float());
    case 1: return f(double());
    case 2: return f(std::int32_t());
    default: return f(std::int64_t());
    }
}

/// A program over numbers: an instruction appends its value to those of the state.
struct instruction {
    std::size_t type; // of the result
    std::function<any_tensor(const std::vector<any_tensor>&)> node;
    std::function<number(const numbers&)> plain;
};

template <class T> any_tensor sealed(const T& x) {
    return any_tensor(tensor<typename T::value_type>(x)); // a node of its own, which rounds by itself
}

struct drawn_loop {
    seeds::draws draw;
    std::vector<std::size_t> type; // of the state, then of the instructions' values
    std::size_t parts = 0;
    std::vector<instruction> code;
    std::vector<std::size_t> next;
    std::size_t goes_on = 0;

    explicit drawn_loop(std::uint64_t seed) : draw(seed) {
        type = {2}; // counts
        for (std::size_t k = draw(7); k > 0; --k) type.push_back(draw(types + 1));
        parts = type.size();
        for (std::size_t k = 3 + draw(draw(8) == 0 ? 80 : 25); k > 0; --k) add();
        count();
        for (std::size_t k = 1; k < parts; ++k) next.push_back(value_of(type[k]));
    }

    /// Returns a drawn value of this type. There is at least one, as state or as a constant that is added.
    std::size_t value_of(std::size_t wanted) {
        std::vector<std::size_t> all;
        for (std::size_t v = 0; v < type.size(); ++v)
            if (type[v] == wanted) all.push_back(v);
        if (!all.empty() && draw(8) > 0) return all[draw(2) == 0 ? draw(all.size()) : all.size() - 1];
        if (wanted == truth) {
            const bool value = draw(2) == 0;
            return append(
                truth, [=](const auto&) { return any_tensor(constant(value)); },
                [=](const auto&) { return number(value); });
        }
        return with_type(wanted, [&]<class T>(T) {
            const T value = static_cast<T>(static_cast<int>(draw(9)) - 4) * (draw(4) == 0 ? T(1000003) : T(1));
            return append(
                wanted, [=](const auto&) { return any_tensor(constant(value)); },
                [=](const auto&) { return number(value); });
        });
    }

    template <class Node, class Plain> std::size_t append(std::size_t of, const Node& node, const Plain& plain) {
        type.push_back(of);
        code.push_back({of, node, plain});
        return type.size() - 1;
    }

    void add() {
        const std::size_t of = draw(types);
        with_type(of, [&]<class T>(T) {
            const std::size_t a = value_of(of), b = value_of(of);
            const auto binary = [&](const auto& f) {
                append(
                    of, [=](const auto& v) { return sealed(f(tensor<T>(v[a]), tensor<T>(v[b]))); },
                    [=](const auto& v) { return number(f(lane<T>(std::get<T>(v[a])), lane<T>(std::get<T>(v[b]))).v); });
            };
            switch (draw(9)) {
            case 0: return binary([](const auto& x, const auto& y) { return x + y; });
            case 1: return binary([](const auto& x, const auto& y) { return x - y; });
            case 2: return binary([](const auto& x, const auto& y) { return x * y; });
            case 3: {
                const std::size_t m = value_of(truth);
                append(
                    of,
                    [=](const auto& v) { return sealed(select(tensor<bool>(v[m]), tensor<T>(v[a]), tensor<T>(v[b]))); },
                    [=](const auto& v) { return std::get<bool>(v[m]) ? v[a] : v[b]; });
                return;
            }
            case 4:
                append(
                    truth, [=](const auto& v) { return sealed(tensor<T>(v[a]) < tensor<T>(v[b])); },
                    [=](const auto& v) { return number(std::get<T>(v[a]) < std::get<T>(v[b])); });
                return;
            case 5:
                append(
                    truth, [=](const auto& v) { return sealed(equal(tensor<T>(v[a]), tensor<T>(v[b]))); },
                    [=](const auto& v) { return number(std::get<T>(v[a]) == std::get<T>(v[b])); });
                return;
            case 6: {
                const std::size_t m = value_of(truth), n = value_of(truth);
                append(
                    truth,
                    [=](const auto& v) {
                        return sealed(logical_and(tensor<bool>(v[m]), logical_not(tensor<bool>(v[n]))));
                    },
                    [=](const auto& v) { return number(std::get<bool>(v[m]) && !std::get<bool>(v[n])); });
                return;
            }
            default: {
                const std::size_t to = draw(types);
                with_type(to, [&]<class To>(To) {
                    append(
                        to, [=](const auto& v) { return sealed(cast<To>(tensor<T>(v[a]))); },
                        [=](const auto& v) { return number(detail::convert<To>(std::get<T>(v[a]))); });
                });
                return;
            }
            }
        });
    }

    /// Adds the condition, and the next count.
    void count() {
        goes_on = append(
            truth, [](const auto& v) { return sealed(tensor<int>(v[0]) < 40); },
            [](const auto& v) { return number(std::get<std::int32_t>(v[0]) < 40); });
        next.push_back(append(
            2, [](const auto& v) { return sealed(tensor<int>(v[0]) + 1); },
            [](const auto& v) { return number(std::get<std::int32_t>(v[0]) + 1); }));
        if (draw(3) > 0) return;
        const std::size_t other = value_of(truth), before = goes_on;
        goes_on = append(
            truth, [=](const auto& v) { return sealed(logical_and(tensor<bool>(v[before]), tensor<bool>(v[other]))); },
            [=](const auto& v) { return number(std::get<bool>(v[before]) && std::get<bool>(v[other])); });
    }

    std::vector<any_tensor> nodes(const std::vector<any_tensor>& state) const {
        auto values = state;
        for (const auto& i : code) values.push_back(i.node(values));
        return values;
    }
    numbers plain(const numbers& state) const {
        auto values = state;
        for (const auto& i : code) values.push_back(i.plain(values));
        return values;
    }
    any_tensor in_graph() const {
        std::vector<any_tensor> first;
        for (std::size_t k = 0; k < parts; ++k)
            first.push_back(type[k] == truth ? any_tensor(constant(false)) : with_type(type[k], []<class T>(T) {
                return any_tensor(constant(T(0)));
            }));
        return while_loop([&](const auto& s) { return nodes(s)[goes_on]; },
                          [&](const auto& s) {
                              const auto values = nodes(s);
                              std::vector<any_tensor> made;
                              for (const auto n : next) made.push_back(values[n]);
                              return made;
                          },
                          first)[0];
    }
    number draw_number(std::size_t of) {
        if (of == truth) return draw(2) == 0;
        return with_type(of, [&]<class T>(T) {
            using limits = std::numeric_limits<T>;
            switch (draw(6)) {
            case 0: return number(limits::max());
            case 1: return number(limits::lowest());
            case 2: return number(limits::has_quiet_NaN ? limits::quiet_NaN() : T(-1));
            case 3: return number(static_cast<T>(3e9));
            default: return number(static_cast<T>(static_cast<int>(draw(2001)) - 1000) / T(8));
            }
        });
    }
};

bool same_number(const number& a, const number& b) {
    return a.index() == b.index() &&
           std::visit([&](const auto& x) { return same(x, std::get<std::decay_t<decltype(x)>>(b)); }, a);
}

TEST_CASE("random loops: machine code of every level has the bits of plain C++", "[random]") {
    seeds::each(60, [](std::uint64_t seed) {
        const graph_scope here{graph()};
        drawn_loop loop(seed);
        const any_tensor node = loop.in_graph();
        at_each_level([&](int level) {
            const machine m(node, level);
            for (int trial = 0; trial < 3; ++trial) {
                numbers first{std::int32_t(loop.draw(50))};
                for (std::size_t k = 1; k < loop.parts; ++k) first.push_back(loop.draw_number(loop.type[k]));
                numbers expected = first, state = first;
                std::int64_t count = 0;
                for (;; ++count) {
                    const auto values = loop.plain(expected);
                    if (!std::get<bool>(values[loop.goes_on])) break;
                    for (std::size_t k = 0; k < loop.parts; ++k) expected[k] = values[loop.next[k]];
                }
                std::vector<void*> at;
                for (auto& x : state) at.push_back(std::visit([](auto& y) { return static_cast<void*>(&y); }, x));
                std::int64_t ran = 0, asked = 0;
                do {
                    asked = 1 + static_cast<std::int64_t>(loop.draw(30));
                    const auto now = m.run(at, {}, asked);
                    ran += now;
                    if (now < asked) break;
                } while (true);
                CHECK(ran == count);
                for (std::size_t k = 0; k < loop.parts; ++k) {
                    const bool agrees = same_number(state[k], expected[k]);
                    CAPTURE(k, state[k].index(), trial);
                    if (!agrees) CHECK(agrees);
                }
            }
        });
    });
}

} // namespace test_device_cpu_jit_random_loops
