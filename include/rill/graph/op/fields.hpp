// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <rill/core/any_array.hpp>
#include <rill/core/program.hpp>

namespace rill { inline namespace RILL_ABI {

/// A visitor of the fields of an op's struct, by name and in a fixed order. A reading visitor changes no field; a loading one does.
/// Hashes, comparisons, files and documents all use one function of the struct:
///     static void fields(auto& op, auto& visit) { visit("axis", op.axis); }
class RILL_EXPORT field_visitor {
public:
    virtual ~field_visitor() = default;

    virtual void operator()(const char* name, bool& value) = 0;
    virtual void operator()(const char* name, std::int32_t& value) = 0;
    virtual void operator()(const char* name, std::int64_t& value) = 0;
    virtual void operator()(const char* name, std::uint64_t& value) = 0;
    virtual void operator()(const char* name, double& value) = 0;
    virtual void operator()(const char* name, dtype& value) = 0;
    virtual void operator()(const char* name, std::string& value) = 0;
    virtual void operator()(const char* name, dims& value) = 0;
    virtual void operator()(const char* name, index_list& value) = 0;
    virtual void operator()(const char* name, axis_list& value) = 0;
    virtual void operator()(const char* name, any_array& value) = 0;
    virtual void operator()(const char* name, fused_spec& value) = 0;
};

namespace detail {

/// A visitor with one implementation for fields of all types: Self::visit(name, value).
template <class Self> class uniform_visitor : public field_visitor {
public:
    void operator()(const char* name, bool& v) override { self().visit(name, v); }
    void operator()(const char* name, std::int32_t& v) override { self().visit(name, v); }
    void operator()(const char* name, std::int64_t& v) override { self().visit(name, v); }
    void operator()(const char* name, std::uint64_t& v) override { self().visit(name, v); }
    void operator()(const char* name, double& v) override { self().visit(name, v); }
    void operator()(const char* name, dtype& v) override { self().visit(name, v); }
    void operator()(const char* name, std::string& v) override { self().visit(name, v); }
    void operator()(const char* name, dims& v) override { self().visit(name, v); }
    void operator()(const char* name, index_list& v) override { self().visit(name, v); }
    void operator()(const char* name, axis_list& v) override { self().visit(name, v); }
    void operator()(const char* name, any_array& v) override { self().visit(name, v); }
    void operator()(const char* name, fused_spec& v) override { self().visit(name, v); }

private:
    Self& self() { return static_cast<Self&>(*this); }
};

/// Returns true if the arrays have the same type and contents, wherever they lie.
bool same_array(const any_array& a, const any_array& b);
std::uint64_t hash_of(const any_array& a);
std::uint64_t hash_of(const fused_spec& spec);

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/graph/op/fields.ipp>
#endif
