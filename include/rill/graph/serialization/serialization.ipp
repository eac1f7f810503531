// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/config.hpp>

#if RILL_KERNELS_HAVE_CEREAL // else rill::kernels is built without it
#include <rill/graph/serialization/serialization.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <istream>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <rill/core/crc32c.hpp>
#include <rill/core/names.hpp>
#include <rill/core/text_file.hpp>
#include <rill/graph/serialization/add_graph.hpp>
#include <rill/graph/serialization/bounded_archive.hpp>
#include <rill/graph/serialization/saved_graph.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

// ---- file format, version 4 ----------------------------------------------------------------------------------------------
// magic | version, checksum of the rest: 4 bytes each | length of the rest: 8 bytes | the rest: a saved_graph
// At the end of the rest come regions and bodies (since version 2), back edges of loops (since version 3) and
// values of variables (since version 4). A graph without values is written as version 3, which older programs read.

/// The first bytes of a file. They show common damage in transfer: a lost top bit, changed line ends, a cut at an end-of-text byte.
inline constexpr std::string_view graph_magic{"\x89rill\r\n\x1a", 8};
inline constexpr std::uint32_t graph_format = 4, format_without_values = 3;
inline constexpr std::size_t graph_header = 24;

template <class Archive> void serialize(Archive& a, saved_edge& e) { a(e.node, e.port); }
template <class Archive> void serialize(Archive& a, saved_node& n) {
    a(n.name, n.op, n.version, n.fields);
    auto inputs = list_of<8>(n.inputs);
    auto controls = list_of<4>(n.control_inputs);
    auto outputs = list_of<2>(n.outputs);
    a(inputs, controls, n.device, n.colocated, outputs);
}
template <class Archive> void serialize(Archive& a, saved_collection& c) {
    auto members = list_of<8>(c.members);
    a(c.name, members);
}
template <class Archive> void serialize(Archive& a, saved_graph& g) {
    auto nodes = list_of<52>(g.nodes);
    auto collections = list_of<16>(g.collections);
    auto initializers = list_of<8>(g.initializers);
    a(g.producer, g.seed, nodes, collections, initializers);
}
template <class Archive> void serialize(Archive& a, saved_region& r) {
    auto nodes = list_of<4>(r.nodes);
    a(r.parent, r.name, nodes);
}
template <class Archive> void serialize(Archive& a, saved_body& b) {
    auto arguments = list_of<8>(b.arguments);
    auto results = list_of<8>(b.results);
    auto captures = list_of<8>(b.captures);
    auto captured = list_of<4>(b.captured);
    auto effects = list_of<4>(b.effects);
    a(b.of, arguments, results, captures, captured, effects);
}
template <class Archive> void serialize(Archive& a, saved_bodies& b) {
    auto all = list_of<44>(b.all);
    a(b.node, b.first_variant, all);
}
/// Writes or reads regions and bodies, which came with version 2.
template <class Archive> void serialize_regions(Archive& a, const saved_graph& g) {
    auto regions = list_of<20>(g.regions);
    auto bodies = list_of<16>(g.bodies);
    a(regions, bodies);
}
template <class Archive> void serialize(Archive& a, saved_loop& l) { a(l.merge, l.back); }
/// Writes or reads the back edges of loops, which came with version 3.
template <class Archive> void serialize_loops(Archive& a, const saved_graph& g) {
    auto loops = list_of<12>(g.loops);
    a(loops);
}

template <class Archive> void serialize(Archive& a, saved_value& v) { a(v.variable, v.array); }
/// Writes or reads the values of variables, which came with version 4.
template <class Archive> void serialize_values(Archive& a, const saved_graph& g) {
    auto values = list_of<12>(g.values);
    a(values);
}

RILL_COLD std::string bytes_of(const saved_graph& g) {
    bounded_output body;
    body(g);
    serialize_regions(body, g);
    serialize_loops(body, g);
    if (!g.values.empty()) serialize_values(body, g);
    bounded_output all;
    all.saveBinary(graph_magic.data(), graph_magic.size());
    all(g.values.empty() ? format_without_values : graph_format, crc32c(body.bytes),
        static_cast<std::uint64_t>(body.bytes.size()));
    return all.bytes + body.bytes;
}

RILL_COLD saved_graph saved_graph_of(std::string_view bytes) {
    if (bytes.substr(0, graph_magic.size()) != graph_magic)
        throw data_loss(bytes.empty() ? "it is empty" : "it does not begin as a graph of rill does");
    if (bytes.size() < graph_header) throw data_loss("it ends within its header");
    bounded_input header(bytes.substr(graph_magic.size()));
    std::uint32_t version = 0, checksum = 0;
    std::uint64_t length = 0;
    header(version, checksum, length);
    if (version < 1 || version > graph_format)
        throw invalid_argument("its format has the version " + std::to_string(version) + ", this program reads 1 to " +
                               std::to_string(graph_format));
    const auto rest = bytes.substr(graph_header);
    if (length != rest.size())
        throw data_loss("it should be " + std::to_string(length) + " bytes behind its header, and is " +
                        std::to_string(rest.size()));
    if (crc32c(rest) != checksum) throw data_loss("its checksum is wrong: it was changed");
    saved_graph g;
    bounded_input body(rest);
    body(g);
    if (version >= 2) serialize_regions(body, g);
    if (version >= 3) serialize_loops(body, g);
    if (version >= 4) serialize_values(body, g);
    if (body.left() > 0) throw data_loss(std::to_string(body.left()) + " bytes are left over");
    return g;
}

// ---- files ---------------------------------------------------------------------------------------------------------------

inline std::string read_all(std::istream& from) {
    std::string all;
    std::vector<char> block(std::size_t(1) << 16);
    while (from.read(block.data(), static_cast<std::streamsize>(block.size())) || from.gcount() > 0)
        all.append(block.data(), static_cast<std::size_t>(from.gcount()));
    if (from.bad()) throw data_loss("it can't be read");
    return all;
}

/// Writes a file beside the old one, then renames it over the old one.
inline void write_file(const std::string& path, std::string_view bytes) {
    static std::atomic<unsigned> made{0};
    const std::string beside = path + "." + std::to_string(reinterpret_cast<std::uintptr_t>(&bytes) % 1000003) + "." +
                               std::to_string(made++) + ".tmp";
    const auto fail = [&] {
        const int problem = errno;
        std::remove(beside.c_str());
        refuse_file("export_graph: '" + path + "' can't be written", problem);
    };
    errno = 0;
    {
        std::ofstream to(beside, std::ios::binary | std::ios::trunc);
        if (to) to.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        to.close();
        if (!to) fail();
    }
    if (std::rename(beside.c_str(), path.c_str()) == 0) return;
#if defined(_WIN32) // rename does not replace an existing file
    std::remove(path.c_str());
    if (std::rename(beside.c_str(), path.c_str()) == 0) return;
#endif
    fail();
}

/// Runs read(), and adds the source of the bytes to its errors.
template <class F> auto read_from(const std::string& source, const F& read) {
    try {
        return read();
    } catch (const error& problem) {
        throw_error(problem.code(), "import_graph: " + source + ": " + problem.what());
    }
}

inline graph own_graph(const std::string& source, std::string_view bytes, const std::source_location& where) {
    return read_from(source, [&] { return load_graph(saved_graph_of(bytes), where); });
}
inline graph joined_graph(const graph& read, const std::string& prefix, const std::source_location& where) {
    const graph g = current_graph();
    add_graph(read, g, prefix, where);
    return g;
}

inline const char* in_memory() { return "bytes in memory"; }
inline const char* in_stream() { return "a stream"; }

} // namespace detail

RILL_COLD const node* exported_fetch::find(const graph& g) const {
    if (node_) return node_;
    const auto name = name_.substr(0, name_.rfind(':'));
    if (const node* n = g.state().find(name)) return n;
    std::vector<std::string> names;
    for (const auto* n : g.nodes()) names.push_back(n->name);
    std::string text = "export_graph: the graph has no node '" + name + "'";
    const auto nearest = detail::nearest_names(name, names);
    for (std::size_t i = 0; i < nearest.size(); ++i) text += (i ? ", '" : "; did you mean '") + nearest[i] + "'";
    throw not_found(text + (nearest.empty() ? "" : "?"));
}

RILL_COLD std::string graph_to_bytes(const valued_graph& g, const export_options& options) {
    std::vector<const node*> wanted;
    for (const auto& f : options.fetches) wanted.push_back(f.find(g.of));
    return detail::bytes_of(detail::save_graph(g.of, {.wanted = wanted, .values = g.values}));
}

RILL_COLD std::string graph_to_bytes(const graph& g, const export_options& options) {
    return graph_to_bytes(valued_graph{g, {}}, options);
}

RILL_COLD void export_graph(const valued_graph& g, const std::string& path, const export_options& options) {
    detail::write_file(path, graph_to_bytes(g, options));
}

RILL_COLD void export_graph(const graph& g, const std::string& path, const export_options& options) {
    export_graph(valued_graph{g, {}}, path, options);
}

RILL_COLD void export_graph(const graph& g, std::ostream& to, const export_options& options) {
    export_graph(valued_graph{g, {}}, to, options);
}

RILL_COLD void export_graph(const valued_graph& g, std::ostream& to, const export_options& options) {
    const auto bytes = graph_to_bytes(g, options);
    to.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!to.flush()) throw data_loss("export_graph: the stream takes no more");
}

RILL_COLD graph graph_from_bytes(std::string_view bytes, const std::source_location& where) {
    return detail::own_graph(detail::in_memory(), bytes, where);
}

RILL_COLD graph graph_from_bytes(std::string_view bytes, const std::string& prefix, const std::source_location& where) {
    return detail::joined_graph(graph_from_bytes(bytes, where), prefix, where);
}

RILL_COLD graph import_graph(std::istream& from, const std::source_location& where) {
    const auto bytes = detail::read_from(detail::in_stream(), [&] { return detail::read_all(from); });
    return detail::own_graph(detail::in_stream(), bytes, where);
}

RILL_COLD graph import_graph(std::istream& from, const std::string& prefix, const std::source_location& where) {
    return detail::joined_graph(import_graph(from, where), prefix, where);
}

RILL_COLD graph import_graph(const std::string& path, const std::source_location& where) {
    const std::string source = "'" + path + "'";
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) detail::refuse_file("import_graph: " + source + " can't be opened", errno);
    const auto bytes = detail::read_from(source, [&] { return detail::read_all(file); });
    return detail::own_graph(source, bytes, where);
}

RILL_COLD graph import_graph(const std::string& path, const std::string& prefix, const std::source_location& where) {
    return detail::joined_graph(import_graph(path, where), prefix, where);
}

}} // namespace rill::RILL_ABI
#endif
