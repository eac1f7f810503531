// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <rill/graph/scope.hpp>

// Graphs as files. A file holds nodes with their names, ops, fields, edges and devices. It also holds collections, seeds and the
// initializers of variables, and values of variables if with_values(session) adds them. A program that reads a graph must have its
// ops: rill::kernels and <rill/all_kernels.hpp> bring those of the catalogue. Without rill::kernels this header needs cereal, which is
// header-only (libcereal-dev).

#if !RILL_COMPILED && !RILL_KERNELS_HAVE_CEREAL
#error "rill/graph/serialization/serialization.hpp needs the headers of cereal (Debian: libcereal-dev)"
#elif RILL_COMPILED && !RILL_KERNELS_HAVE_CEREAL
#error                                                                                                                 \
    "rill/graph/serialization/serialization.hpp: this rill::kernels was built without cereal; install it and configure again"
#endif

namespace rill { inline namespace RILL_ABI {

/// A fetch of an exported graph: a tensor, an operation, or the name of one. Expressions are sealed.
class exported_fetch {
public:
    exported_fetch(const char* name) : name_(name) {}
    exported_fetch(std::string name) : name_(std::move(name)) {}
    template <class H>
        requires(!std::convertible_to<const H&, std::string> && !std::is_same_v<H, exported_fetch>)
    exported_fetch(const H& h) {
        if constexpr (node_handle<H>)
            node_ = detail::checked_node(h.node(), "export_graph");
        else
            node_ = detail::checked_node(sealed(h).node(), "export_graph"); // the leaves keep its graph alive
    }

    /// Returns the node. Throws not_found if the graph has no node of that name.
    const node* find(const graph& g) const;

private:
    const node* node_ = nullptr;
    std::string name_; // "y" or "y:0"
};

struct export_options {
    std::vector<exported_fetch> fetches = {}; // export only what these need; empty: the whole graph
};

/// Writes a graph to a file. The old file stays until the new one is complete. Throws invalid_argument (a fetch of another graph),
/// not_found (a fetch or a folder), permission_denied, resource_exhausted (a full disk) or data_loss.
void export_graph(const graph& g, const std::string& path, const export_options& options = {});
void export_graph(const graph& g, std::ostream& to, const export_options& options = {});
/// Writes a graph with values of its variables: export_graph(with_values(s), "model.rill"). In every session of the imported graph the
/// variables begin with these values, so no initializer has to run. An initializer that runs overwrites them.
void export_graph(const valued_graph& g, const std::string& path, const export_options& options = {});
void export_graph(const valued_graph& g, std::ostream& to, const export_options& options = {});

/// Reads an untrusted file into a new graph. Throws not_found if there is no file, and data_loss for missing, changed or surplus
/// bytes. Throws invalid_argument, which names the faulty node, if the content is not a valid graph. Throws unimplemented, with all their
/// names, for ops that this program lacks.
graph import_graph(const std::string& path, const std::source_location& where = std::source_location::current());
graph import_graph(std::istream& from, const std::source_location& where = std::source_location::current());

/// Reads a graph into the current graph, and returns the latter. Names go below the prefix ("prefix_1" if it is taken); an empty prefix
/// keeps them. Open name scopes apply; those of devices and control inputs do not. Ops keep their seeds; ops without a seed derive one
/// from the current graph's seed. Throws already_exists for names that are taken. A failed import adds nothing.
graph import_graph(const std::string& path, const std::string& prefix,
                   const std::source_location& where = std::source_location::current());
graph import_graph(std::istream& from, const std::string& prefix,
                   const std::source_location& where = std::source_location::current());

/// Writes and reads graphs in memory, like export_graph and import_graph.
std::string graph_to_bytes(const graph& g, const export_options& options = {});
std::string graph_to_bytes(const valued_graph& g, const export_options& options = {});
graph graph_from_bytes(std::string_view bytes, const std::source_location& where = std::source_location::current());
graph graph_from_bytes(std::string_view bytes, const std::string& prefix,
                       const std::source_location& where = std::source_location::current());

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/graph/serialization/serialization.ipp>
#endif
