// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <rill/graph/scope.hpp>

// Graphs as files. Nodes travel with their names, ops, fields, edges and devices; so do collections, seeds and the initializers of
// variables. Values of variables travel if with_values(session) adds them. To read a graph, a program needs its ops: those of the
// catalogue come with rill::kernels or <rill/all_kernels.hpp>. Without rill::kernels this header needs cereal, which is headers alone (libcereal-dev).

#if !RILL_COMPILED && !RILL_KERNELS_HAVE_CEREAL
#error "rill/graph/serialization/serialization.hpp needs the headers of cereal (Debian: libcereal-dev)"
#elif RILL_COMPILED && !RILL_KERNELS_HAVE_CEREAL
#error                                                                                                                 \
    "rill/graph/serialization/serialization.hpp: this rill::kernels was built without cereal; install it and configure again"
#endif

namespace rill { inline namespace RILL_ABI {

/// What is to be computed from an exported graph: a tensor, an operation, or the name of one. Expressions are sealed.
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
            node_ = detail::checked_node(sealed(h).node(), "export_graph"); // its graph lives by its leaves
    }

    /// Throws not_found for a name that the graph does not have.
    const node* find(const graph& g) const;

private:
    const node* node_ = nullptr;
    std::string name_; // "y" or "y:0"
};

struct export_options {
    std::vector<exported_fetch> fetches = {}; // only what these need; none: all there is
};

/// Writes a graph to a file. What was there before stays until all is written: invalid_argument (a fetch of another graph),
/// not_found (a folder), permission_denied, data_loss.
void export_graph(const graph& g, const std::string& path, const export_options& options = {});
void export_graph(const graph& g, std::ostream& to, const export_options& options = {});
/// With values of variables: export_graph(with_values(s), "model.rill"). In every session of the graph that is read the variables
/// begin with these, and no initializer has to run (one that runs gives its own value).
void export_graph(const valued_graph& g, const std::string& path, const export_options& options = {});
void export_graph(const valued_graph& g, std::ostream& to, const export_options& options = {});

/// Reads a graph: one of its own. Nothing in a file is believed: data_loss where bytes are missing, changed or too many,
/// invalid_argument for what is no graph (with the node), unimplemented with the names of all ops that this program lacks,
/// not_found where there is no file.
graph import_graph(const std::string& path, const std::source_location& where = std::source_location::current());
graph import_graph(std::istream& from, const std::source_location& where = std::source_location::current());

/// Reads a graph into the current one, names below the prefix ("prefix_1" if it is taken; "": as they are), and returns that. The
/// scopes of names apply; those of devices and control inputs do not. Seeds of ops travel; others are drawn from this graph's.
/// Nothing is added if it fails; already_exists for names that are taken.
graph import_graph(const std::string& path, const std::string& prefix,
                   const std::source_location& where = std::source_location::current());
graph import_graph(std::istream& from, const std::string& prefix,
                   const std::source_location& where = std::source_location::current());

/// The same in memory.
std::string graph_to_bytes(const graph& g, const export_options& options = {});
std::string graph_to_bytes(const valued_graph& g, const export_options& options = {});
graph graph_from_bytes(std::string_view bytes, const std::source_location& where = std::source_location::current());
graph graph_from_bytes(std::string_view bytes, const std::string& prefix,
                       const std::source_location& where = std::source_location::current());

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/graph/serialization/serialization.ipp>
#endif
