// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/graph/op/field_bytes.hpp>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <rill/core/hash_map.hpp>
#include <rill/graph/op/byte_writer.hpp>
#include <rill/graph/op/op.hpp>
#include <rill/graph/op/op_registry.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Returns the number of a field type in the binary form. Never reuse a number.
template <class T> constexpr unsigned field_kind() {
    if constexpr (std::is_same_v<T, bool>) return 1;
    if constexpr (std::is_same_v<T, std::int32_t>) return 2;
    if constexpr (std::is_same_v<T, std::int64_t>) return 3;
    if constexpr (std::is_same_v<T, std::uint64_t>) return 4;
    if constexpr (std::is_same_v<T, double>) return 5;
    if constexpr (std::is_same_v<T, dtype>) return 6;
    if constexpr (std::is_same_v<T, std::string>) return 7;
    if constexpr (std::is_same_v<T, dims>) return 8;
    if constexpr (std::is_same_v<T, axis_list>) return 9;
    if constexpr (std::is_same_v<T, any_array>) return 10;
    if constexpr (std::is_same_v<T, fused_spec>) return 11;
    if constexpr (std::is_same_v<T, index_list>) return 12;
    return 0;
}

RILL_EXPORT inline std::atomic<adjoint_check>& adjoint_check_now() {
    static std::atomic<adjoint_check> check{nullptr};
    return check;
}

/// A reader of the bytes that byte_writer writes. Throws invalid_argument if too few bytes are left.
class byte_reader {
public:
    explicit byte_reader(std::string_view bytes) : rest(bytes) {}

    std::string_view take(std::size_t n) {
        if (n > rest.size())
            throw invalid_argument("fields: " + std::to_string(n) + " bytes expected, " + std::to_string(rest.size()) +
                                   " are left");
        const auto taken = rest.substr(0, n);
        rest.remove_prefix(n);
        return taken;
    }
    template <class T> T number() {
        T v;
        std::memcpy(&v, take(sizeof v).data(), sizeof v);
        return v;
    }
    /// Reads a list length. Throws invalid_argument if the bytes left can't hold that many elements of `each` bytes or more.
    std::size_t count(std::size_t each = 1) {
        const auto n = number<std::uint32_t>();
        if (n > rest.size() / each) throw invalid_argument("fields: a list is longer than what is left");
        return n;
    }
    std::string_view text() { return take(count()); }

    /// Takes the elements of an array. Refuses a bool other than 0 and 1: reading one is undefined behaviour.
    std::string_view elements(dtype type, std::size_t bytes) {
        const auto taken = take(bytes);
        for (const char c : type == dtype::boolean ? taken : std::string_view())
            if (c != 0 && c != 1) throw invalid_argument("fields: no bool");
        return taken;
    }

    void get(bool& v) { v = number<std::uint8_t>() != 0; }
    void get(std::int32_t& v) { v = number<std::int32_t>(); }
    void get(std::int64_t& v) { v = number<std::int64_t>(); }
    void get(std::uint64_t& v) { v = number<std::uint64_t>(); }
    void get(double& v) { v = number<double>(); }
    void get(dtype& v) {
        const auto d = number<std::uint8_t>();
        if (d >= dtype_count) throw invalid_argument("fields: no dtype has the number " + std::to_string(d));
        v = static_cast<dtype>(d);
    }
    void get(std::string& v) { v = text(); }
    void get(index_list& v) {
        const auto rank = number<std::int8_t>();
        if (rank < -1 || rank > max_rank) throw invalid_argument("fields: a rank of " + std::to_string(rank));
        v = index_list();
        v.rank = rank;
        for (int i = 0; i < rank; ++i) v[i] = number<std::int64_t>();
    }
    void get(dims& v) {
        index_list all;
        get(all);
        for (int i = 0; i < all.rank; ++i)
            if (all[i] < dyn) throw invalid_argument("fields: a negative extent");
        dims known = all;
        for (int i = 0; i < all.rank; ++i)
            if (known[i] == dyn) known[i] = 1;
        if (all.rank > 0 && !tensor_type{dtype::invalid, known}.countable())
            throw invalid_argument("fields: a shape of more elements than an index counts");
        v = all;
    }
    void get(axis_list& v) {
        const auto n = number<std::int8_t>();
        if (n < 0 || n > max_rank) throw invalid_argument("fields: " + std::to_string(n) + " axes");
        v = axis_list();
        v.count = n;
        for (int i = 0; i < n; ++i) v.set(i, number<std::int8_t>());
    }
    void get(any_array& v) {
        dtype type;
        dims shape;
        get(type);
        get(shape);
        if (type == dtype::invalid) return void(v = any_array());
        const tensor_type t{type, shape};
        if (!shape.complete() || !t.countable() ||
            static_cast<std::uint64_t>(shape.size()) >
                rest.size() / (type == dtype::string ? 4 : 1)) // least bytes: a length, or one byte
            throw invalid_argument("fields: an array of " + to_string(t) + " in " + std::to_string(rest.size()) +
                                   " bytes");
        const auto bytes = static_cast<std::size_t>(shape.size()) * size_of(type);
        if (type != dtype::string && bytes > rest.size()) take(bytes); // throws before anything is allocated
        v = any_array(type, shape);
        if (type == dtype::string)
            for (index_t i = 0; i < shape.size(); ++i) static_cast<std::string*>(v.mutable_data())[i] = text();
        else if (bytes > 0)
            std::memcpy(v.mutable_data(), elements(type, bytes).data(), bytes);
    }
    void get(reduction& r) {
        const auto how = number<std::uint8_t>();
        if (how > static_cast<std::uint8_t>(combine::any)) throw invalid_argument("fields: an unknown reduction");
        r.how = static_cast<combine>(how);
        get(r.axes);
        get(r.keep_dims);
    }
    void get(program& p) {
        const auto types = [&](std::vector<dtype>& all) {
            all.resize(count());
            for (auto& d : all) get_number_type(d);
        };
        types(p.leaves);
        types(p.scalars);
        const auto known = [&](int value) {
            if (value < 0 || value >= p.first_instruction() + static_cast<int>(p.code.size()))
                throw invalid_argument("fields: a program uses a value that is not there");
            return value;
        };
        std::vector<std::string> lacking;
        for (auto n = count(); n > 0; --n) {
            program::instruction i{};
            const op_entry* const op = get_op(i, lacking);
            for (auto k = count(4); k > 0; --k) i.args.push_back(known(number<std::int32_t>()));
            if (op) check_instruction(p, i, *op);
            p.code.push_back(std::move(i));
        }
        for (auto n = count(4); n > 0; --n) p.results.push_back(known(number<std::int32_t>()));
        const auto key = text();
        p.adjoint_of = text();
        if (!lacking.empty()) throw lacking_ops(std::move(lacking));
        p.key = expression_key(p); // the stored key is not trusted: it selects one of two computed keys
        if (p.key.empty() || p.key != key) p.key = spelled_key(p);
    }
    void get(fused_spec& s) {
        bool there = false;
        get(there);
        s = fused_spec();
        if (!there) return;
        auto body = std::make_shared<program>();
        get(*body);
        const auto kind = number<std::uint8_t>();
        if (kind > static_cast<std::uint8_t>(fused_spec::form::by_result))
            throw invalid_argument("fields: an unknown form");
        s.kind = static_cast<fused_spec::form>(kind);
        for (auto n = count(); n > 0; --n) {
            fused_leaf l;
            get(l.input);
            get(l.view);
            if (l.input < 0) throw invalid_argument("fields: a negative input");
            s.leaves.push_back(l);
        }
        for (auto n = count(); n > 0; --n) {
            fused_result r;
            get(r.reduce);
            get(r.like);
            r.mask = number<std::uint32_t>();
            if (r.like >= 0 && !(r.reduce == reduction()))
                throw invalid_argument("fields: a result that is reduced in two ways");
            if (r.like < -1) throw invalid_argument("fields: a negative input");
            s.results.push_back(r);
        }
        for (auto n = count(); n > 0; --n) {
            scalar_value v;
            get(v.type);
            std::memcpy(v.bytes.data(), take(v.bytes.size()).data(), v.bytes.size());
            if (v.type == dtype::boolean && v.bytes[0] > std::byte(1)) throw invalid_argument("fields: no bool");
            s.scalars.push_back(v);
        }
        if (s.results.empty()) throw invalid_argument("fields: a program without a result");
        if (s.leaves.size() != body->leaves.size() || s.results.size() != body->results.size() ||
            s.scalars.size() != body->scalars.size())
            throw invalid_argument("fields: a fused node does not fit its program");
        for (std::size_t i = 0; i < s.scalars.size(); ++i)
            if (s.scalars[i].type != body->scalars[i]) throw invalid_argument("fields: a scalar of another type");
        s.body = body;
        const auto check = adjoint_check_now().load();
        if (s.is_adjoint() && !(check && check(s))) s.kind = fused_spec::form::program;
        if (!s.is_adjoint()) body->adjoint_of.clear();
    }

    std::string_view rest;

private:
    void get_number_type(dtype& d) {
        get(d);
        if (d == dtype::invalid || d == dtype::string)
            throw invalid_argument("fields: a program does not compute with " + std::string(to_string(d)));
    }

    /// Reads the op and dtype of an instruction. If this process lacks the op, adds it to `lacking` and returns null.
    const op_entry* get_op(program::instruction& i, std::vector<std::string>& lacking) {
        const auto name = text();
        const auto version = number<std::int32_t>();
        get_number_type(i.type);
        const auto* op = find_registered_op(name, i.type);
        const bool here = op && op->elementwise;
        i.op = here ? op->elementwise : nullptr;
        if (here && version >= 1 && version <= op->version) return op;
        lacking.push_back(described(name, version, here ? op->version : 0));
        return nullptr;
    }

    static void check_instruction(const program& p, const program::instruction& i, const op_entry& op) {
        const auto refuse = [&](const std::string& why) {
            throw invalid_argument("fields: '" + std::string(op.name) + "' " + why);
        };
        if (static_cast<int>(i.args.size()) != op.operands) refuse("of " + std::to_string(i.args.size()) + " operands");
        const dtype last = p.type_of(i.args.back());
        if (i.type != (op.result == dtype::invalid ? last : op.result) || !op.takes(last))
            refuse("gives no " + std::string(to_string(i.type)) + " of " + std::string(to_string(last)));
        for (const int a : i.args)
            if (!op.mixed && p.type_of(a) != last) refuse("of operands of several dtypes");
    }
};

class field_writer final : public uniform_visitor<field_writer> {
public:
    template <class T> void visit(const char* name, const T& value) {
        byte_writer one;
        one.put(value);
        all.text(name);
        all.number(static_cast<std::uint8_t>(field_kind<T>()));
        all.number(static_cast<std::uint64_t>(one.out.size()));
        all.out += one.out;
    }
    byte_writer all;
};

class field_reader final : public uniform_visitor<field_reader> {
public:
    explicit field_reader(std::string_view bytes) {
        byte_reader from(bytes);
        while (!from.rest.empty()) {
            const auto name = from.text();
            const auto kind = from.number<std::uint8_t>();
            const auto size = from.number<std::uint64_t>();
            if (!fields_.try_emplace(name, field{kind, from.take(static_cast<std::size_t>(size))}).is_new)
                throw invalid_argument("fields: '" + std::string(name) + "' is there twice");
        }
    }

    template <class T> void visit(const char* name, T& value) {
        const auto at = fields_.find(name);
        if (at == fields_.end()) return; // missing: keeps its default
        if (at->second.kind != field_kind<T>())
            throw invalid_argument("fields: '" + std::string(name) + "' is of another kind");
        at->second.taken = true;
        byte_reader from(at->second.bytes);
        from.get(value);
        if (!from.rest.empty())
            throw invalid_argument("fields: '" + std::string(name) + "' is longer than it should be");
    }

    /// Throws invalid_argument if the bytes hold a field that the op does not have.
    void finish() const {
        for (const auto& [name, f] : fields_)
            if (!f.taken) throw invalid_argument("fields: the op has no field '" + std::string(name) + "'");
    }

private:
    struct field {
        unsigned kind;
        std::string_view bytes;
        bool taken = false;
    };
    hash_map<std::string_view, field> fields_;
};

} // namespace detail

namespace detail {

RILL_COLD void set_adjoint_check(adjoint_check check) { adjoint_check_now() = check; }

RILL_COLD std::string described(std::string_view op, int version, int known) {
    const std::string name = "'" + std::string(op) + "'";
    if (known == 0) return name;
    return name + " in version " + std::to_string(version) + " (this program's is " + std::to_string(known) + ")";
}

RILL_COLD lacking_ops::lacking_ops(std::vector<std::string> all) : unimplemented(text_of(all)), ops(std::move(all)) {}

RILL_COLD std::string lacking_ops::text_of(const std::vector<std::string>& all) {
    std::string text = all.size() == 1 ? "this program lacks the op " : "this program lacks the ops ";
    for (std::size_t i = 0; i < all.size(); ++i) text += (i ? ", " : "") + all[i];
    return text + " (<rill/all_kernels.hpp> and rill::kernels bring every op of the catalogue)";
}

} // namespace detail

RILL_COLD std::string bytes_of_fields(const op& o) {
    detail::field_writer writer;
    o.fields(writer);
    return std::move(writer.all.out);
}

RILL_COLD void load_fields(std::string_view bytes, const std::function<void(field_visitor&)>& load) {
    detail::field_reader reader(bytes);
    load(reader);
    reader.finish();
}

RILL_COLD std::string detail::bytes_of_array(const any_array& a) {
    byte_writer writer;
    writer.put(a);
    return std::move(writer.out);
}

RILL_COLD any_array detail::array_of_bytes(std::string_view bytes) {
    byte_reader reader(bytes);
    any_array a;
    reader.get(a);
    if (!reader.rest.empty()) throw invalid_argument("an array has bytes left over");
    return a;
}

}} // namespace rill::RILL_ABI
