// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Graphs as lines of text, with what TensorFlow computes of them, as vectors.py writes them:
//
//     graph Mul float32            a graph begins: what it is called
//     ulps 4                       how far results may lie apart, in last places (of numbers below `near`: of that)
//     near 1
//     in float32 [2,3] 1 2 0 inf   value 0, 1, …: inputs; outputs of ops are numbered on; complex numbers are 1,-2
//     const int32 [2] 2 3          or a constant
//     op Concat 0,1 axis=1         an op by its name in the catalogue: operands, and fields as the op calls them
//     call crelu 0                 or a function that is made of ops: named_functions.hpp has their names
//     out 2 float32 [4,3] 1 nan|0  what value 2 is; behind a bar what it is here, where the page on gradients says why
//     gy 2 float32 [4,3] 1 …       the gradient that comes from above to value 2
//     dx 0 float32 [2,3] 1 …       then the gradient of value 0; "dx 0 none": none flows; "dx 0 zero": in TensorFlow
//                                  none, here 0; "dx 0 nothing": either
//     ddx 0 float32 [2,3] 1 …      and the gradient of the sum of all those gradients

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <istream>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <rill/all_kernels.hpp>

namespace described_graph {

using namespace rill;

/// Words of a line, taken one by one.
class words {
public:
    explicit words(std::string_view line) : rest_(line) {}
    bool empty() const { return rest_.empty(); }
    std::string_view next() {
        const auto end = rest_.find(' ');
        const auto word = rest_.substr(0, end);
        rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
        return word;
    }
    std::string_view rest() const { return rest_; }

private:
    std::string_view rest_;
};

template <class T> T number(std::string_view text) {
    if constexpr (std::is_same_v<T, bool>) {
        return text == "1";
    } else if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>) {
        return number<float>(text);
    } else if constexpr (is_complex<T>) {
        const auto comma = std::min(text.find(','), text.size());
        using part = typename T::value_type;
        return {number<part>(text.substr(0, comma)), number<part>(text.substr(std::min(comma + 1, text.size())))};
    } else {
        T value{};
        const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (problem != std::errc() || stop != text.data() + text.size())
            throw std::runtime_error("'" + std::string(text) + "' is not a number");
        return value;
    }
}

/// [1,2,3]
inline std::vector<index_t> numbers(std::string_view text) {
    std::vector<index_t> all;
    text = text.substr(1, text.size() - 2);
    while (!text.empty()) {
        const auto comma = text.find(',');
        all.push_back(number<index_t>(text.substr(0, comma)));
        text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    }
    return all;
}

inline dims shape_of(std::string_view text) {
    dims shape;
    for (const auto n : numbers(text)) shape.push(n);
    return shape;
}

inline dtype dtype_named(std::string_view name) {
    for (int d = 1; d < dtype_count; ++d)
        if (to_string(static_cast<dtype>(d)) == name) return static_cast<dtype>(d);
    throw std::runtime_error("'" + std::string(name) + "' is no dtype");
}

/// The element types that graphs are described in.
using described_types =
    type_set<float, double, half, bfloat16, std::complex<float>, std::complex<double>, std::int8_t, std::int16_t,
             std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, bool>;

template <class F> void with_type(dtype type, F&& f) {
    bool found = false;
    described_types::each([&]<class T>(std::type_identity<T> tag) {
        if (dtype_of<T> == type) found = true, f(tag);
    });
    if (!found) throw std::runtime_error("no described graph has elements of " + std::string(to_string(type)));
}

/// "float32 [2] 1 nan|0".
inline any_array array(words line) {
    const dtype type = dtype_named(line.next());
    any_array made(type, shape_of(line.next()));
    with_type(type, [&]<class T>(std::type_identity<T>) {
        for (index_t i = 0; i < made.size(); ++i) {
            auto word = line.next();
            if (const auto bar = word.find('|'); bar != std::string_view::npos) word.remove_prefix(bar + 1);
            static_cast<T*>(made.mutable_data())[i] = number<T>(word);
        }
    });
    if (!line.empty()) throw std::runtime_error("there are more elements than the shape has");
    return made;
}

inline any_array zeros_of(const tensor_type& type) { return detail::filled_array(type.type, type.shape, 0); }

/// What a last place is relative to 1, and the smallest number whose last places count.
template <class T> struct precision {
    static constexpr double epsilon = std::numeric_limits<T>::epsilon(), smallest = std::numeric_limits<T>::min();
};
template <> struct precision<half> {
    static constexpr double epsilon = 0x1p-10, smallest = 0; // below 2^-14 last places are no smaller, yet they count
};
template <> struct precision<bfloat16> {
    static constexpr double epsilon = 0x1p-7, smallest = precision<float>::smallest;
};

/// Whether a real number lies near enough to another; places are last places of numbers of that size.
template <class T> bool near_enough(double got, double wanted, double places, double size) {
    if (got == wanted || (std::isnan(got) && std::isnan(wanted))) return true;
    if (std::is_same_v<T, half>) size = std::max(size, 0x1p-14);
    const double rounding = std::max(places * precision<T>::epsilon * size, precision<T>::smallest);
    return std::isfinite(wanted) && std::abs(got - wanted) <= rounding;
}

/// How far two arrays lie apart, as text; empty if that is near enough.
inline std::string difference(const any_array& got, const any_array& wanted, double ulps, double near) {
    if (got.type() != wanted.type()) return to_string(got.type()) + ", not " + to_string(wanted.type());
    std::string text;
    with_type(got.dtype(), [&]<class T>(std::type_identity<T>) {
        for (std::size_t i = 0; i < static_cast<std::size_t>(got.size()) && text.empty(); ++i) {
            const T a = got.elements<T>()[i], b = wanted.elements<T>()[i];
            if (a == b) continue;
            if constexpr (is_complex<T>) {
                using part = typename T::value_type;
                double size = near; // the larger part's
                for (const part p : {b.real(), b.imag()})
                    if (std::isfinite(p)) size = std::max(size, double(std::abs(p)));
                if (near_enough<part>(a.real(), b.real(), ulps, size) &&
                    near_enough<part>(a.imag(), b.imag(), ulps, size))
                    continue;
            } else if constexpr (is_real_floating<T>) {
                if (near_enough<T>(a, b, ulps, std::max(std::abs(double(b)), near))) continue;
            }
            std::ostringstream out;
            out.precision(17);
            const auto written = [](const T& x) {
                if constexpr (is_complex<T>)
                    return x;
                else
                    return +x;
            };
            out << "element " << i << " is " << written(a) << ", not " << written(b);
            text = out.str();
        }
    });
    return text;
}

struct described {
    std::string name;
    std::vector<std::string> lines;
};

inline bool all_zero(const any_array& x) { return difference(x, zeros_of(x.type()), 0, 0).empty(); }

/// Gives a new op the fields that a line names.
class field_reader : public detail::uniform_visitor<field_reader> {
public:
    explicit field_reader(words line) {
        while (!line.empty()) {
            const auto word = line.next();
            const auto equals = word.find('=');
            text_[word.substr(0, equals)] = word.substr(equals + 1);
        }
    }
    template <class T> void visit(const char* name, T& value) {
        const auto at = text_.find(name);
        if (at == text_.end()) return;
        if constexpr (std::is_same_v<T, std::string>)
            value = at->second;
        else if constexpr (std::is_same_v<T, dtype>)
            value = dtype_named(at->second);
        else if constexpr (std::is_base_of_v<dims, T>)
            value = shape_of(at->second);
        else if constexpr (std::is_same_v<T, any_array>) {
            std::string written(at->second); // its words are joined by ;
            std::replace(written.begin(), written.end(), ';', ' ');
            value = array(words(written));
        } else if constexpr (std::is_same_v<T, axis_list>) {
            for (const auto axis : numbers(at->second)) value.set(value.count++, static_cast<int>(axis));
        } else if constexpr (std::is_arithmetic_v<T>)
            value = number<T>(at->second);
        else
            throw std::runtime_error("no line says what '" + std::string(name) + "' is");
    }
    std::string_view text(std::string_view name) const {
        const auto at = text_.find(name);
        return at == text_.end() ? std::string_view() : at->second;
    }

private:
    std::map<std::string_view, std::string_view> text_;
};

/// Reductions are fused nodes, and what is real of complex numbers is several ops: their functions make them.
inline any_tensor made_by_function(std::string_view op, const any_tensor& x, const field_reader& fields) {
    if (op == "ComplexAbs") return abs(x);
    if (op == "Angle") return angle(x);
    axis_list axes;
    for (const auto a : numbers(fields.text("axes"))) axes.set(axes.count++, static_cast<int>(a));
    const auto either = [&](const auto& f) { return fields.text("keep") == "1" ? f(keep_dims) : f(); };
    if (op == "Sum") return either([&](auto... keep) { return reduce_sum(x, axes, keep...); });
    if (op == "Mean") return either([&](auto... keep) { return reduce_mean(x, axes, keep...); });
    if (op == "Prod") return either([&](auto... keep) { return reduce_prod(x, axes, keep...); });
    if (op == "Max") return either([&](auto... keep) { return reduce_max(x, axes, keep...); });
    if (op == "Min") return either([&](auto... keep) { return reduce_min(x, axes, keep...); });
    if (op == "All") return either([&](auto... keep) { return reduce_all(x, axes, keep...); });
    if (op == "Any") return either([&](auto... keep) { return reduce_any(x, axes, keep...); });
    if (op == "Norm") return either([&](auto... keep) { return reduce_l2_norm(x, axes, keep...); });
    if (op == "LogSumExp") return either([&](auto... keep) { return reduce_logsumexp(x, axes, keep...); });
    throw std::runtime_error("no op is called " + std::string(op));
}

inline bool is_made_by_function(std::string_view op) {
    static const std::set<std::string_view> all{"Sum", "Mean", "Prod", "Max",       "Min",       "All",
                                                "Any", "Norm", "Angle", "ComplexAbs", "LogSumExp"};
    return all.contains(op);
}

/// The outputs of an op by its name.
inline std::vector<any_tensor> applied(const graph& g, std::string_view name, const std::vector<any_tensor>& operands,
                                       words line) {
    field_reader fields(line);
    if (is_made_by_function(name)) return {made_by_function(name, operands.at(0), fields)};
    const auto to = fields.text("to");
    const op_entry* op = find_op(name, to.empty() ? dtype::invalid : dtype_named(to));
    if (!op && to.empty()) op = find_op(name, dtype::boolean); // comparisons
    if (!op) throw std::runtime_error("no op is called " + std::string(name));
    if (op->elementwise) {
        detail::untyped_arguments all;
        for (const auto& x : operands) {
            all.order.push_back(static_cast<int>(all.inputs.size()));
            all.inputs.push_back(x.end());
        }
        return {any_tensor(detail::apply_untyped(*op->elementwise, op->result, std::move(all), g))};
    }
    endpoint_list inputs;
    for (const auto& x : operands) inputs.push_back(x.end());
    const node* made = detail::add_node(g, op->make(&fields), std::move(inputs));
    std::vector<any_tensor> outputs;
    for (int port = 0; port < static_cast<int>(made->outputs.size()); ++port)
        outputs.push_back(any_tensor(endpoint{made, port}));
    return outputs;
}

/// A function by its name: its outputs for operands and fields.
using named_function = std::function<std::vector<any_tensor>(const std::vector<any_tensor>&, const field_reader&)>;
using named_functions = std::map<std::string_view, named_function>;

struct expected_gradient {
    std::string about;
    bool none, may_be_none;
    any_array value;
};

/// Runs a graph, which may call functions; what is not as it should be, a line each.
inline std::vector<std::string> run(const described& d, const named_functions& functions = {}) {
    const graph g;
    const graph_scope here(g);
    double ulps = 4, near = 0;
    std::vector<any_tensor> values, fetches, ys, seeds, xs;
    std::vector<feed_value> feeds;
    std::vector<std::pair<std::string, any_array>> wanted;
    std::array<std::vector<expected_gradient>, 2> orders; // first and second
    std::vector<std::string> problems;
    for (const auto& text : d.lines) {
        words line(text);
        const auto what = line.next();
        const auto value = [&] { return values.at(number<std::size_t>(line.next())); };
        if (what == "ulps") {
            ulps = number<double>(line.next());
        } else if (what == "near") {
            near = number<double>(line.next());
        } else if (what == "in" || what == "gy") {
            if (what == "gy") ys.push_back(value());
            const any_array fed = array(line);
            const any_tensor x = any_placeholder("x", fed.dtype(), fed.shape());
            (what == "gy" ? seeds : values).push_back(x);
            feeds.push_back(feed(x, fed));
        } else if (what == "const") {
            values.push_back(any_tensor(endpoint{detail::add_node(g, make_op(constant_op{array(line)}), {}), 0}));
        } else if (what == "op" || what == "call") {
            const auto name = line.next();
            auto operands = line.next();
            std::vector<any_tensor> of;
            for (const auto n : numbers("[" + std::string(operands) + "]")) of.push_back(values.at(std::size_t(n)));
            const auto made = [&] {
                return what == "op" ? applied(g, name, of, line) : functions.at(name)(of, field_reader(line));
            };
            for (const auto& y : made()) values.push_back(y);
        } else if (what == "out") {
            const std::string about = "value " + std::string(words(line).next());
            fetches.push_back(value());
            wanted.emplace_back(about, array(line));
        } else if (what == "dx" || what == "ddx") {
            const bool again = what == "ddx"; // of which programs know more often that it is 0
            const std::string about =
                (again ? "the second gradient of value " : "the gradient of value ") + std::string(words(line).next());
            const any_tensor x = value();
            if (!again) xs.push_back(x);
            const auto rest = line.rest();
            orders[again].push_back({about, rest == "none", again || rest == "nothing",
                                     rest == "none"                        ? any_array()
                                     : rest == "zero" || rest == "nothing" ? zeros_of(x.end().from->outputs[0])
                                                                           : array(line)});
        } else {
            throw std::runtime_error("no line begins with '" + std::string(what) + "'");
        }
    }
    for (const auto& order : orders) {
        if (order.empty() || ys.empty()) break;
        const auto found = gradients(ys, xs, {.grad_ys = seeds});
        ys.clear(), seeds.clear();
        for (std::size_t i = 0; i < found.size(); ++i) {
            const auto& expected = order[i];
            if (found[i]) ys.push_back(found[i]);
            if (found[i] && !expected.none) {
                fetches.push_back(found[i]);
                wanted.emplace_back(expected.about, expected.value);
            } else if (bool(found[i]) == expected.none) {
                if (!expected.may_be_none || !all_zero(expected.value))
                    problems.push_back(expected.about + (expected.none ? " should not flow" : " does not flow"));
            }
        }
    }
    const session s(g, {.intra_op_threads = 1});
    if (!global_variables().empty()) s.run(global_variables_initializer()); // of cells
    if (!g.collection(collections::local_variables).empty()) s.run(local_variables_initializer()); // of metrics
    const auto results = s.run(fetches, feeds);
    for (std::size_t i = 0; i < results.size(); ++i)
        if (const auto text = difference(results[i], wanted[i].second, ulps, near); !text.empty())
            problems.push_back(wanted[i].first + ": " + text);
    return problems;
}

/// A file: its graphs, and beside them lines that begin with other words, by that word.
struct description {
    std::vector<described> graphs;
    std::map<std::string, std::vector<std::string>> others;
    std::set<std::string> ops; // that graphs are made of
};

inline description read(std::istream& from) {
    description all;
    for (std::string line; std::getline(from, line);) {
        if (line.empty() || line[0] == '#') continue;
        words w(line);
        const std::string word(w.next());
        if (word == "graph") {
            all.graphs.push_back({std::string(w.rest()), {}});
        } else if (word == "without") {
            all.others[word].push_back(std::string(w.rest()));
        } else {
            if (word == "op") all.ops.insert(std::string(w.next()));
            all.graphs.back().lines.push_back(line);
        }
    }
    return all;
}

/// A file of tests/data, or of the folder that RILL_TEST_DATA names.
inline description read_data(const std::string& name) {
    const char* const folder = std::getenv("RILL_TEST_DATA");
    const std::string path = std::string(folder ? folder : "tests/data") + "/" + name;
    std::ifstream file(path);
    if (!file) throw std::runtime_error(path + " can't be read");
    return read(file);
}

/// How many graphs of a file give something else, and of the first of these what.
inline std::string wrong_of(const description& all, const named_functions& functions = {}, std::size_t most = 70) {
    std::string text;
    std::size_t wrong = 0;
    for (const auto& d : all.graphs) {
        std::vector<std::string> problems;
        try {
            problems = run(d, functions);
        } catch (const std::exception& e) {
            problems = {e.what()};
        }
        if (problems.empty()) continue;
        if (++wrong <= most)
            for (const auto& p : problems) text += d.name + ": " + p + "\n";
    }
    return wrong == 0 ? "" : text + std::to_string(wrong) + " of " + std::to_string(all.graphs.size()) + " graphs\n";
}

} // namespace described_graph
