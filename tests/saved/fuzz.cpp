// SPDX-License-Identifier: BSD-3-Clause
// Bytes that strangers might send: graphs changed at random, under checksums that are right, graphs of which numbers, edges and lists are
// changed where they stand, and graphs of known ops wired at random.
// Each is refused by an error of ours, or is a graph that can be run, and then gives values or such an error: no crash, nothing that
// a sanitizer has to say, no room made for sizes that are not there. fuzz SECONDS GRAPH... [SEED]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <rill/all_kernels.hpp>
#include <rill/core/crc32c.hpp>
#include <rill/graph/serialization/saved_graph.hpp>
#include <rill/graph/serialization/serialization.hpp>

namespace {

using namespace rill;
using detail::saved_graph, detail::saved_node;
using clock_type = std::chrono::steady_clock;

std::mt19937 drawn;
std::size_t below(std::size_t n) { return n == 0 ? 0 : drawn() % n; }

std::string with_header(std::string bytes) {
    const auto body = std::string_view(bytes).substr(24);
    const std::uint32_t checksum = detail::crc32c(body);
    const std::uint64_t length = body.size();
    std::memcpy(bytes.data() + 12, &checksum, 4);
    std::memcpy(bytes.data() + 16, &length, 8);
    return bytes;
}

/// A few changes from place `first` on.
void change(std::string& bytes, std::size_t first) {
    for (auto n = 1 + below(4); n > 0 && bytes.size() > first + 8; --n) {
        const auto at = first + below(bytes.size() - first);
        const auto place = [&](std::size_t size) { return bytes.data() + std::min(at, bytes.size() - size); };
        switch (below(7)) {
        case 0: bytes[at] = static_cast<char>(bytes[at] ^ 1 << below(8)); break;
        case 1: bytes[at] = static_cast<char>(drawn()); break;
        case 2: bytes.erase(at, 1 + below(16)); break;
        case 3: bytes.insert(at, 1 + below(16), static_cast<char>(below(2) ? 0 : 0xff)); break;
        case 4: bytes.insert(at, bytes.substr(first + below(bytes.size() - first), below(64))); break;
        case 5: {
            static constexpr std::int64_t odd[] = {0,         -1,       -2, 1, 2, 1 << 20, std::int64_t(1) << 40,
                                                   INT64_MAX, INT64_MIN};
            std::memcpy(place(8), &odd[below(std::size(odd))], 8);
            break;
        }
        default: {
            static constexpr std::int32_t odd[] = {0, -1, 1, 7, 255, 1 << 20, INT32_MAX, INT32_MIN};
            std::memcpy(place(4), &odd[below(std::size(odd))], 4);
        }
        }
    }
}

/// Numbers around the widths that they might be cut to.
std::int64_t odd_number() {
    static constexpr std::int64_t all[] = {0,       1,         -1,        2,          7,         127,
                                           128,     255,       32767,     32768,      65535,     65536,
                                           1 << 20, INT32_MAX, INT32_MIN, UINT32_MAX, INT64_MAX, INT64_MIN};
    return all[below(std::size(all))];
}
/// One of a list, or something new.
template <class T> T& one_of(std::vector<T>& all) {
    if (all.empty()) all.emplace_back();
    return all[below(all.size())];
}

void change(std::uint32_t& number, std::size_t nodes) {
    number = static_cast<std::uint32_t>(below(4) ? below(nodes + 2) : static_cast<std::size_t>(odd_number()));
}
/// One number of one field, or a byte of it.
void change_field(std::string& fields) {
    struct content {
        int kind;
        std::size_t at, size;
    };
    std::vector<content> all;
    for (std::size_t at = 0; at < fields.size();) { // length of the name, name, kind, length of the content, content
        std::uint32_t name = 0;
        std::uint64_t size = 0;
        std::memcpy(&name, fields.data() + at, 4);
        at += 4 + name;
        const int kind = fields[at];
        std::memcpy(&size, fields.data() + at + 1, 8);
        all.push_back({kind, at + 9, static_cast<std::size_t>(size)});
        at += 9 + static_cast<std::size_t>(size);
    }
    if (all.empty()) return;
    const auto& c = all[below(all.size())];
    if (c.size == 0) return;
    const std::int64_t number = odd_number();
    const std::size_t width = c.kind == 2   ? 4
                              : c.size >= 8 ? 8
                                            : 1; // 2: int32; behind the rank of a shape are its extents
    std::memcpy(fields.data() + c.at + c.size % width + width * below(c.size / width), &number, width);
}
void change_edge(detail::saved_edge& e, std::size_t nodes) {
    if (below(3) == 0)
        e.port = static_cast<std::uint32_t>(odd_number());
    else
        change(e.node, nodes);
}
/// One element of a list changed, left out, or there again, perhaps very often.
template <class T, class Change> void change_list(std::vector<T>& all, const Change& change_one) {
    const T one = one_of(all);
    switch (below(4)) {
    case 0: all.pop_back(); break;
    case 1: all.insert(all.end(), below(8) ? 1 : 40'000, one); break;
    default: change_one(one_of(all));
    }
}
/// One thing of a graph, which stays a graph in form.
void change_part(saved_graph& g) {
    const auto nodes = g.nodes.size();
    const auto number = [&](std::uint32_t& n) { change(n, nodes); };
    const auto edge = [&](detail::saved_edge& e) { change_edge(e, nodes); };
    auto& n = one_of(g.nodes);
    const auto value = [&](detail::saved_value& v) {
        if (below(2) || v.array.empty())
            number(v.variable);
        else
            change(v.array, 0);
    };
    if (!g.values.empty() && below(8) == 0) return change_list(g.values, value);
    switch (below(g.bodies.empty() ? 9 : 16)) {
    case 0: return change_list(n.inputs, edge);
    case 1: return change_list(n.control_inputs, number);
    case 2: return number(n.colocated);
    case 3: return void(n.version = static_cast<std::int32_t>(odd_number()));
    case 4: return void(n.op = one_of(g.nodes).op);
    case 5: return change_list(n.outputs, [](tensor_type& t) { t.shape = dims{}; });
    case 6: return change_list(g.loops, [&](auto& loop) { below(2) ? number(loop.merge) : edge(loop.back); });
    case 7: return change_list(g.initializers, [&](auto& i) { number(below(2) ? i.first : i.second); });
    case 8: return change_field(n.fields);
    default: break;
    }
    auto& bodies = one_of(g.bodies);
    auto& body = one_of(bodies.all);
    switch (below(8)) {
    case 0: return number(bodies.node);
    case 1: return number(bodies.first_variant);
    case 2: return number(body.of);
    case 3: return change_list(below(2) ? body.arguments : body.results, edge);
    case 4: return change_list(body.captures, edge);
    case 5: return change_list(below(2) ? body.captured : body.effects, number);
    case 6: return change_list(one_of(g.regions).nodes, number);
    default: change_field(g.nodes[bodies.node % nodes].fields);
    }
}

struct tally {
    long rounds = 0, graphs = 0, values = 0, refusals = 0;
};

/// Runs all that a graph holds, one after the other, with little memory.
void run(const graph& g, tally& t) {
    tracked_allocator little(std::size_t(1) << 18);
    const session s(g, {.inter_op_threads = 0, .intra_op_threads = 0, .memory = &little});
    std::vector<feed_value> feeds;
    for (const auto* n : g.nodes()) {
        if (n->outputs.size() > 1000) return; // each is fetched, by a plan of its own
        for (const auto& type : n->outputs)
            for (const index_t extent : type.shape.extent)
                if (extent > 1 << 16) return; // may take for ever, if another is 0: then no memory sets a limit
    }
    for (const auto* n : g.nodes()) {
        if (n->op->role() != op_role::placeholder || n->inside) continue;
        auto type = n->outputs[0];
        if (!type.shape.known_rank()) type.shape = {2};
        for (int i = 0; i < type.shape.rank; ++i)
            if (type.shape[i] == dyn) type.shape[i] = 2;
        if (!type.countable() || type.shape.size() > 1000) return;
        any_array value(type.type, type.shape);
        if (type.type != dtype::string && value.size() > 0)
            std::memset(value.mutable_data(), static_cast<int>(below(2)),
                        static_cast<std::size_t>(value.size()) * size_of(type.type));
        feeds.push_back(feed(n->name + ":0", value));
    }
    const auto attempt = [&](const std::string& name) {
        try {
            s.run(fetch(name), feeds, {.timeout = std::chrono::milliseconds(100)}); // a loop may have no end
            ++t.values;
        } catch (const error&) {
            ++t.refusals;
        }
    };
    for (const auto* n : g.nodes())
        if (const auto* i = g.state().initializer(n)) attempt(i->name);
    for (const auto* n : g.nodes()) {
        for (std::size_t port = 0; port < n->outputs.size(); ++port) attempt(n->name + ":" + std::to_string(port));
        if (n->outputs.empty()) attempt(n->name);
    }
}

template <class Read> void read_and_run(const Read& read, tally& t) {
    ++t.rounds;
    try {
        const graph g = read();
        ++t.graphs;
        const auto again = graph_to_bytes(g);
        if (graph_to_bytes(graph_from_bytes(again)) != again) {
            std::printf("a graph that was read is written in two ways\n");
            std::abort();
        }
        if (g.size() <= 40) run(g, t);
    } catch (const error&) {}
}

/// Nodes of known graphs, or with changed fields, over whatever comes before them.
graph wired(const std::vector<saved_node>& pool) {
    const graph g;
    std::vector<endpoint> have;
    std::vector<const node*> variables;
    const auto count = 4 + below(20);
    for (std::size_t tries = 0; tries < 20 * count && g.size() < count; ++tries) {
        const auto& like = pool[below(pool.size())];
        if (!like.inputs.empty() && have.empty()) continue;
        auto fields = like.fields;
        if (below(4) == 0) change(fields, 0);
        try {
            node_spec spec;
            spec.op = make_op(like.op, like.version, fields);
            spec.name = "n";
            if (spec.op->regions()) continue; // it has no bodies here
            const bool other = below(8) == 0;
            for (std::size_t k = other ? below(5) : like.inputs.size(); k > 0 && !have.empty(); --k)
                spec.inputs.push_back(have[below(have.size())]);
            for (const int w : spec.op->writes())
                if (static_cast<std::size_t>(w) < spec.inputs.size() && !variables.empty())
                    spec.inputs[static_cast<std::size_t>(w)] = {variables[below(variables.size())], 0};
            const node* n = g.state().add(std::move(spec));
            if (n->op->role() == op_role::variable) variables.push_back(n);
            if (n->op->initialises() && n->inputs[0].from->op->role() == op_role::variable)
                g.state().set_initializer(n->inputs[0].from, n);
            for (std::size_t port = 0; port < n->outputs.size(); ++port) have.push_back({n, static_cast<int>(port)});
        } catch (const error&) {}
    }
    const auto nodes = g.nodes();
    for (const auto* n : nodes)
        if (n->op->flow().what == control_flow_kind::form::merges) try {
                const loop_edge e{n, {nodes[below(nodes.size())], 0}};
                g.state().close_loops({&e, 1});
            } catch (const error&) {}
    return g;
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 3) return std::fprintf(stderr, "usage: fuzz SECONDS GRAPH... [SEED]\n"), 2;
    const double seconds = std::atof(argv[1]);
    auto seed = static_cast<unsigned>(clock_type::now().time_since_epoch().count());
    std::vector<std::string> corpus;
    std::vector<saved_graph> graphs;
    std::vector<saved_node> pool;
    for (int i = 2; i < argc; ++i) {
        std::ifstream file(argv[i], std::ios::binary);
        if (!file) {
            seed = static_cast<unsigned>(std::atol(argv[i]));
            continue;
        }
        corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
        graphs.push_back(detail::save_graph(graph_from_bytes(corpus.back())));
        pool.insert(pool.end(), graphs.back().nodes.begin(), graphs.back().nodes.end());
    }
    for (const auto* e : known_ops()) // also those that no graph here has, with any number of inputs
        for (std::uint32_t inputs = 0; e->make && inputs < 4; ++inputs) {
            saved_node n;
            n.op = e->name;
            n.version = e->version;
            n.fields = bytes_of_fields(*make_op(e->name));
            n.inputs.resize(inputs);
            pool.push_back(std::move(n));
        }
    std::printf("seed %u\n", seed);
    std::fflush(stdout);
    tally changed, parts_changed, wired_at_random;
    const auto begin = clock_type::now();
    double slowest = 0;
    for (unsigned round = 0;; ++round) {
        const auto now = clock_type::now();
        if (std::chrono::duration<double>(now - begin).count() > seconds) break;
        drawn.seed(seed + round); // so that one round can be repeated: fuzz 0.001 GRAPH... SEED
        if (const char* only = std::getenv("FUZZ_VERBOSE")) std::fprintf(stderr, "round %u%s\n", seed + round, only);
        switch (below(3)) {
        case 0: {
            auto bytes = corpus[below(corpus.size())];
            change(bytes, 24);
            read_and_run([&] { return graph_from_bytes(with_header(bytes)); }, changed);
            break;
        }
        case 1: {
            auto g = graphs[below(graphs.size())];
            for (auto n = 1 + below(3); n > 0; --n) change_part(g);
            read_and_run([&] { return detail::load_graph(g); }, parts_changed);
            break;
        }
        default: read_and_run([&] { return graph_from_bytes(graph_to_bytes(wired(pool))); }, wired_at_random);
        }
        slowest = std::max(slowest, std::chrono::duration<double>(clock_type::now() - now).count());
    }
    for (const auto& [name, t] : {std::pair("changed", changed), std::pair("parts changed", parts_changed),
                                  std::pair("wired at random", wired_at_random)})
        std::printf("%s: %ld rounds, %ld graphs, %ld values, %ld refused\n", name, t.rounds, t.graphs, t.values,
                    t.refusals);
    std::printf("slowest round: %.3f s\n", slowest);
}
