// SPDX-License-Identifier: BSD-3-Clause
// docs/ops.md, from the catalogue and the headers of the source tree: ops_page write|check <root>.
#include <rill/all_kernels.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace rill;

namespace {

struct row {
    std::string name, gradient, types, fields;
    std::string documented; // the struct whose docstring and header stand for it
};

// ---- what structs say ------------------------------------------------------------------------------------------------------

/// "axis: int32, keep: bool"
class field_names final : public detail::uniform_visitor<field_names> {
public:
    template <class T> void visit(const char* name, T&) {
        text += (text.empty() ? "" : ", ") + std::string(name) + ": ";
        if constexpr (std::is_same_v<T, rill::dtype>)
            text += "dtype";
        else if constexpr (element<T>)
            text += to_string(dtype_of<T>);
        else if constexpr (std::is_same_v<T, dims>)
            text += "shape";
        else if constexpr (std::is_same_v<T, index_list>)
            text += "whole numbers";
        else if constexpr (std::is_same_v<T, axis_list>)
            text += "axes";
        else if constexpr (std::is_same_v<T, any_array>)
            text += "array";
        else
            text += "program";
    }
    std::string text;
};

template <class Domain> struct op_of {
    using domain_type = Domain;
};

/// The domain with these dtypes, or the dtypes.
std::string types_text(std::uint32_t dtypes) {
    const auto set_of = []<class Domain>(std::type_identity<Domain>) { return detail::dtypes_of<op_of<Domain>>(); };
    const std::pair<std::uint32_t, const char*> domains_by_name[] = {
        {0, "any"},
        {set_of(std::type_identity<domains::every>()), "any"},
        {set_of(std::type_identity<domains::any>()), "all but string"},
        {set_of(std::type_identity<domains::numeric>()), "numbers"},
        {set_of(std::type_identity<domains::comparable>()), "numbers, bool"},
        {set_of(std::type_identity<domains::real>()), "real"},
        {set_of(std::type_identity<domains::floating>()), "floating"},
        {set_of(std::type_identity<domains::real_floating>()), "real floating"},
        {set_of(std::type_identity<domains::boolean>()), "bool"},
    };
    for (const auto& [set, name] : domains_by_name)
        if (set == dtypes) return name;
    std::string text;
    for (int d = 1; d < dtype_count; ++d)
        if (dtypes >> d & 1u) text += (text.empty() ? "" : ", ") + std::string(to_string(static_cast<dtype>(d)));
    return text;
}

/// The struct's own name: "rill::v0::cast_op<float>" is cast_op.
template <class Op> std::string plain_struct_name() {
    const std::string whole(detail::type_name<Op>());
    const auto head = whole.substr(0, whole.find('<'));
    return head.substr(head.rfind(':') + 1);
}

template <class Op> std::string gradient_of() {
    if constexpr (detail::has_gradient<Op>) {
        return "yes";
    } else if constexpr (detail::node_op_struct<Op>) {
        const std::string reason = Op::no_gradient; // empty: it stands in the source
        return reason.empty() ? "no" : "no: " + reason.substr(0, reason.find(';'));
    } else if constexpr (op_takes<Op, float>) {
        if constexpr (requires { typename Op::result_type; })
            return is_differentiable(dtype_of<typename Op::result_type>) ? "yes" : "no: its result is not floating";
        else
            return "yes";
    } else {
        return "no: its operands are bool";
    }
}

template <class Op> row row_of(const std::string& documented = plain_struct_name<Op>()) {
    row r{Op::name, gradient_of<Op>(), types_text(detail::dtypes_of<Op>()), "*elementwise*", documented};
    if constexpr (detail::node_op_struct<Op>) {
        field_names names;
        make_op(std::string_view(Op::name))->fields(names); // as a program that reads a graph makes it
        r.fields = names.text;
    }
    return r;
}

std::vector<row> all_rows() {
    std::vector<row> rows;
    const auto add = [&](row r) {
        const auto same = std::find_if(rows.begin(), rows.end(), [&](const row& o) { return o.name == r.name; });
        if (same == rows.end())
            rows.push_back(std::move(r));
        else if (r.gradient == "yes") // the conversions: one row
            same->gradient = r.gradient;
    };
    catalogue::each([&]<class Op>(std::type_identity<Op>) { add(row_of<Op>()); });
    optimizer_rules::each([&]<class Rule>(std::type_identity<Rule>) {
        add(row_of<update_op<Rule>>(plain_struct_name<Rule>()));
        if constexpr (requires { Rule::by_rows; }) add(row_of<update_rows_op<Rule>>());
    });
    std::sort(rows.begin(), rows.end(), [](const row& a, const row& b) { return a.name < b.name; });
    return rows;
}

// ---- what headers say --------------------------------------------------------------------------------------------------------

struct documented_struct {
    std::string header; // "ops/math/add"
    std::string sentence;
};

std::string text_of(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// Up to the first full stop that ends a sentence.
std::string first_sentence(const std::string& text) {
    for (std::size_t i = 0; i < text.size(); ++i)
        if ((text[i] == '.' || text[i] == ':') && (i + 1 == text.size() || text[i + 1] == ' '))
            return text.substr(0, i);
    return text;
}

std::map<std::string, documented_struct> documented_structs(const std::filesystem::path& root) {
    static const std::regex declared(R"(^(?:template <.*> )?struct (\w+)(?:(?: : .*)? \{.*)?)");
    std::map<std::string, documented_struct> all;
    for (const auto* folder : {"ops", "expr", "train"})
        for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "include/rill" / folder)) {
            if (entry.path().extension() != ".hpp") continue;
            std::istringstream lines(text_of(entry.path()));
            std::string docstring;
            for (std::string line; std::getline(lines, line);) {
                std::smatch match;
                if (line.starts_with("/// "))
                    docstring += (docstring.empty() ? "" : " ") + line.substr(4);
                else if (std::regex_match(line, match, declared)) {
                    auto header = std::filesystem::relative(entry.path(), root / "include/rill");
                    all[match[1]] = {header.replace_extension().generic_string(), first_sentence(docstring)};
                    docstring.clear();
                } else
                    docstring.clear();
            }
        }
    return all;
}

/// Returns the test of a header: its own, or that of its family, which names it. Those of its folder come first.
std::string test_of(const std::filesystem::path& root, const std::string& header) {
    const std::string own = "tests/" + header + ".cpp";
    if (std::filesystem::exists(root / own)) return own;
    const auto slash = header.rfind('/');
    const auto op = header.substr(slash + 1);
    for (const auto& folder : {"tests/" + header.substr(0, slash), std::string("tests/ops"), std::string("tests")}) {
        std::set<std::string> files; // in order
        for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder))
            if (entry.path().extension() == ".cpp")
                files.insert(std::filesystem::relative(entry.path(), root).generic_string());
        for (const auto& file : files)
            if (text_of(root / file).find(op) != std::string::npos) return file;
    }
    throw std::runtime_error(own + " is missing");
}

/// For a cell of a table.
std::string cell(std::string text) {
    for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.replace(at, 1, "\\|");
    return text;
}

std::string page(const std::filesystem::path& root) {
    const auto structs = documented_structs(root);
    std::map<std::string, std::vector<std::string>> sections; // folder -> lines
    for (const auto& r : all_rows()) {
        const auto at = structs.find(r.documented);
        if (at == structs.end()) throw std::runtime_error("no header declares " + r.documented);
        const auto& [header, sentence] = at->second;
        if (sentence.empty()) throw std::runtime_error(header + ".hpp: " + r.documented + " has no docstring");
        const std::string test = test_of(root, header);
        const auto slash = header.rfind('/');
        std::string& line = sections[header.substr(0, slash)].emplace_back();
        line = "| " + r.name + " | [" + header.substr(slash + 1) + "](../include/rill/" + header + ".hpp) | " +
               r.types + " | " + r.gradient + " | " + r.fields + " | " + cell(sentence) + " | [test](../" + test +
               ") |\n";
    }
    std::string text =
        "# Ops\n\nMade by `make docs` from the catalogue and the headers' own words: change those, not this "
        "page.\nGroups are folders under `include/rill/`. Elementwise ops fuse with their neighbours; the "
        "others are nodes, whose fields\nare named. Functions made of ops alone (`reduce_mean`, `eye`, "
        "`add_n`, …) are not listed.\n";
    for (const auto& [folder, lines] : sections) {
        text += "\n## " + folder +
                "\n\n| op | header | elements | gradient | fields | what it does | |\n|---|---|---|---|---|---|---|\n";
        for (const auto& line : lines) text += line;
    }
    return text;
}

int run(const std::string& what, const std::filesystem::path& root) {
    const auto file = root / "docs/ops.md";
    const auto text = page(root);
    if (what == "write") {
        std::ofstream(file, std::ios::binary) << text;
        return 0;
    }
    if (text_of(file) == text) return 0;
    std::istringstream now(text), then(text_of(file));
    for (std::string line, old; std::getline(now, line);)
        if (!std::getline(then, old) || line != old) {
            std::cout << "docs/ops.md is stale (make docs); the first line that differs should be\n"
                      << line << "\nand is\n"
                      << old << "\n";
            return 1;
        }
    std::cout << "docs/ops.md is stale (make docs): it is longer than it should be\n";
    return 1;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3 || (std::string(argv[1]) != "write" && std::string(argv[1]) != "check")) {
        std::cerr << "ops_page write|check <source tree>\n";
        return 2;
    }
    try {
        return run(argv[1], argv[2]);
    } catch (const std::exception& e) {
        std::cerr << "ops_page: " << e.what() << "\n";
        return 1;
    }
}
