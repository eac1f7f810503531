// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/thrust/program_source.hpp>

#include <algorithm>
#include <array>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns the C++ type of a dtype; empty for text and quantised numbers, of which there are no programs.
RILL_COLD std::string_view source_type(dtype type) {
    switch (type) {
    case dtype::float32: return "float";
    case dtype::float64: return "double";
    case dtype::int8: return "std::int8_t";
    case dtype::int16: return "std::int16_t";
    case dtype::int32: return "std::int32_t";
    case dtype::int64: return "std::int64_t";
    case dtype::uint8: return "std::uint8_t";
    case dtype::uint16: return "std::uint16_t";
    case dtype::uint32: return "std::uint32_t";
    case dtype::uint64: return "std::uint64_t";
    case dtype::boolean: return "bool";
    case dtype::complex64: return "std::complex<float>";
    case dtype::complex128: return "std::complex<double>";
    case dtype::bfloat16: return "bfloat16";
    case dtype::half: return "half";
    default: return {};
    }
}

/// Returns the name of an op's struct without the inline namespace, which some compilers spell: "rill::cast_op<float>".
RILL_COLD std::string source_name(const elementwise_info& op) {
    static constexpr std::string_view own = RILL_DETAIL_TEXT(RILL_ABI) "::";
    std::string name(op.struct_name);
    for (std::size_t at; (at = name.find(own)) != std::string::npos;) name.erase(at, own.size());
    return name;
}

RILL_COLD std::span<const std::string_view> program_source::hidden_headers() noexcept {
    static constexpr std::array<std::string_view, 21> all{"rill/core/at_start.hpp",
                                                          "rill/core/host_array.hpp",
                                                          "rill/core/shared.hpp",
                                                          "rill/device/strided_layout.hpp",
                                                          "rill/expr/apply.hpp",
                                                          "rill/expr/fused_op.hpp",
                                                          "rill/expr/node_op.hpp",
                                                          "rill/link/dynamic_runtime.hpp",
                                                          "rill/ops/array/broadcast_to.hpp",
                                                          "rill/ops/array/identity.hpp",
                                                          "rill/ops/array/indices.hpp",
                                                          "rill/ops/array/shape_input.hpp",
                                                          "rill/ops/array/stop_gradient.hpp",
                                                          "rill/ops/math/complex.hpp",
                                                          "rill/ops/math/complex_part.hpp",
                                                          "rill/ops/math/imag.hpp",
                                                          "rill/ops/math/real.hpp",
                                                          "rill/ops/math/reduce.hpp",
                                                          "rill/ops/string/string_equal.hpp",
                                                          "rill/ops/string/string_select.hpp",
                                                          "rill/ops/string/text.hpp"};
    return all;
}

/// Adds the header of an op: it bears the name of the struct without "_op". Returns false for ops of other namespaces.
RILL_COLD bool program_source::add_include(const elementwise_info& op) {
    const std::string spelled = source_name(op);
    std::string_view name = std::string_view(spelled).substr(0, spelled.find('<'));
    if (!name.starts_with("rill::") || !name.ends_with("_op")) return false;
    name.remove_prefix(6);
    name.remove_suffix(3);
    if (name.find("::") != std::string_view::npos) return false;
    if (std::find(includes_.begin(), includes_.end(), name) == includes_.end()) includes_.emplace_back(name);
    return true;
}

RILL_COLD std::optional<program_source> program_source::of(const program& p, std::span<const leaf_form> leaves,
                                                           int rank) {
    constexpr std::size_t most_instructions = 256;
    constexpr int most_words = 448; // of 512, which the arguments of a kernel may have on any GPU
    program_source made;
    made.rank_ = rank;
    made.leaves_ = leaves.size();
    made.forms_.assign(leaves.begin(), leaves.end());
    made.dense_ = std::all_of(leaves.begin(), leaves.end(), [](leaf_form f) { return f == leaf_form::dense; });
    made.forms_.insert(made.forms_.end(), p.scalars.size(), leaf_form::number);
    if (p.code.size() > most_instructions) return {};
    for (int v = 0; v < p.first_instruction(); ++v)
        if (p.uses(v) && source_type(p.type_of(v)).empty()) return {};
    for (const auto& i : p.code)
        if (source_type(i.type).empty() || !made.add_include(*i.op)) return {};

    const bool walks = std::find(leaves.begin(), leaves.end(), leaf_form::strided) != leaves.end();
    made.words_ = walks ? rank : 0;
    for (int v = 0; v < p.first_instruction(); ++v) {
        made.places_.push_back(made.words_);
        made.bytes_.push_back(size_of(p.type_of(v)));
        const auto form = made.forms_[static_cast<std::size_t>(v)];
        made.words_ += form == leaf_form::number    ? static_cast<int>((size_of(p.type_of(v)) + 7) / 8)
                       : form == leaf_form::strided ? 1 + rank
                                                    : 1;
    }
    for (std::size_t r = 0; r < p.results.size(); ++r) made.places_.push_back(made.words_++);
    if (made.words_ > most_words) return {};
    made.add_element(p);
    return made;
}

/// Returns the expression that reads a leaf or a scalar.
RILL_COLD std::string program_source::read(const program& p, int value) const {
    const std::string type(source_type(p.type_of(value))),
        at = std::to_string(places_[static_cast<std::size_t>(value)]);
    switch (forms_[static_cast<std::size_t>(value)]) {
    case leaf_form::number: return "words.number<" + type + ">(" + at + ")";
    case leaf_form::single: return "words.single<" + type + ">(" + at + ")";
    case leaf_form::dense: return "words.dense<" + type + ">(" + at + ", i)";
    case leaf_form::strided: return "words.strided<" + type + ", " + std::to_string(rank_) + ">(" + at + ", i)";
    }
    return {};
}

/// Writes the function of an element: it reads the arrays, and then computes and stores.
RILL_COLD void program_source::add_element(const program& p) {
    const auto lane_of = [](dtype type) { return "lane<" + std::string(source_type(type)) + ">"; };
    const auto name = [](int v) { return "v" + std::to_string(v); };
    std::string members, loads, numbers, code;
    for (int v = 0; v < p.first_instruction(); ++v) {
        if (!p.uses(v)) continue;
        const std::string type = lane_of(p.type_of(v)), value = type + "(" + read(p, v) + ")";
        if (forms_[static_cast<std::size_t>(v)] == leaf_form::number) {
            numbers += "        const " + type + " " + name(v) + " = " + value + ";\n";
        } else {
            members += "        " + type + " " + name(v) + ";\n";
            loads += (loads.empty() ? "" : ", ") + value;
            numbers += "        const " + type + "& " + name(v) + " = loaded." + name(v) + ";\n";
        }
    }
    for (std::size_t k = 0; k < p.code.size(); ++k) {
        const auto& i = p.code[k];
        std::string args;
        for (const int a : i.args) args += (args.empty() ? "" : ", ") + name(a);
        code += "        const " + lane_of(i.type) + " " + name(p.first_instruction() + static_cast<int>(k)) +
                " = compute<" + source_name(*i.op) + ">(" + args + ");\n";
    }
    for (std::size_t r = 0; r < p.results.size(); ++r)
        code += "        words.store(" + std::to_string(places_[static_cast<std::size_t>(p.first_instruction()) + r]) +
                ", i, " + name(p.results[r]) + ");\n";
    element_ = "struct program_element {\n"
               "    static constexpr bool dense = " +
               std::string(dense_ ? "true" : "false") +
               ";\n"
               "    program_words<" +
               std::to_string(std::max(words_, 1)) +
               "> words;\n\n"
               "    struct values {\n" +
               members +
               "    };\n"
               "    RILL_FN values load([[maybe_unused]] index_t i) const { return {" +
               loads +
               "}; }\n"
               "    RILL_FN void finish(index_t i, [[maybe_unused]] const values& loaded) const {\n" +
               numbers + code + "    }\n};\n";
}

RILL_COLD std::string program_source::text(source_language language) const {
    std::string all =
        "#include <rill/device/thrust/program_element.hpp>\n#include <rill/device/thrust/program_front.hpp>\n";
    if (language == source_language::cuda) all += "#include <rill/device/cuda/element_kernel.hpp>\n";
    for (const auto& name : includes_) {
        const std::string math = "<rill/ops/math/" + name + ".hpp>", nn = "<rill/ops/nn/" + name + ".hpp>";
        all += "#if __has_include(" + math + ")\n#include " + math + "\n#else\n#include " + nn + "\n#endif\n";
    }
    all += "\nnamespace rill { inline namespace RILL_ABI { namespace detail {\n\n" + element_ +
           "\n}}} // namespace rill::RILL_ABI::detail\n\nusing namespace rill::detail;\n";
    if (language == source_language::cuda)
        return all + "extern \"C\" __global__ void __launch_bounds__(block_threads)\n"
                     "    rill_program(const __grid_constant__ program_element f, rill::index_t n, int elements, "
                     "failure_guard guard) {\n"
                     "    if (!guard.has_failed()) compute_elements(f, n, elements);\n}\n";
    return all + "extern \"C\" void rill_program(const program_element* f, rill::index_t n) {\n"
                 "    for (rill::index_t i = 0; i < n; ++i) run_element(*f, i);\n}\n";
}

}}} // namespace rill::RILL_ABI::detail
