// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <rill/core/text_file.hpp>
#include <rill/io/file_system.hpp>

namespace io_test {

using namespace rill;

/// A file system in memory that records its operations. One of them may fail, and a crash loses any of those that were not synced.
class model_files final : public file_system {
public:
    /// One recorded operation. A data operation changes a file; a name operation changes a directory.
    struct operation {
        enum kind_type { create, data, rename, remove, make_directory, sync, sync_directory } kind;
        std::size_t of = 0;                // the node of a file, or of the directory that holds the name
        std::size_t node = 0;              // what is created
        std::string name = {}, other = {}; // other: the new name
        std::size_t to = 0;                // the directory of the new name
        std::uint64_t offset = 0;
        std::string bytes = {};
    };

    model_files() : nodes_{{.is_directory = true}} {}
    /// The files after the first `n` operations of another one and a crash. `kept(i)` decides for each operation i that was not synced.
    model_files(const model_files& of, std::size_t n, const std::function<bool(std::size_t)>& kept) : model_files() {
        std::map<std::size_t, std::size_t> synced; // by node: the last sync
        for (std::size_t i = 0; i < n; ++i)
            if (const auto& o = of.log_[i]; o.kind == operation::sync || o.kind == operation::sync_directory)
                synced[o.of] = i;
        for (std::size_t i = 0; i < n; ++i) {
            const auto& o = of.log_[i];
            const auto at = synced.find(o.of);
            const bool durable = i < of.durable_ || (at != synced.end() && i < at->second);
            while (nodes_.size() <= o.node) nodes_.emplace_back();
            if (durable || kept(i)) apply(o);
        }
    }

    /// Lets the k-th operation from now on fail (1: the next), with an errno value.
    void fail(std::size_t k, int problem) {
        left_ = k;
        problem_ = problem;
    }
    std::size_t operations() const { return log_.size(); }
    std::size_t calls() const { return calls_; }
    /// Makes all that was done so far durable.
    void settle() { durable_ = log_.size(); }

    std::string& contents(const std::string& path) { return nodes_[need(path)].bytes; }
    void put(const std::string& path, const std::string& bytes) { create(path)->append(bytes); }

    std::unique_ptr<output_file> create(const std::string& path) override {
        step("create", path);
        const auto directory = need(detail::directory_of(path));
        std::size_t node = find(path);
        if (node == none) node = nodes_.size();
        record({.kind = operation::create, .of = directory, .node = node, .name = detail::base_of(path)});
        return std::make_unique<output>(*this, node, path);
    }
    std::unique_ptr<input_file> open(const std::string& path) override {
        step("open", path);
        const auto node = need(path);
        if (nodes_[node].is_directory) detail::refuse_file("open '" + path + "'", EISDIR);
        return std::make_unique<input>(*this, nodes_[node].bytes, path);
    }
    void rename(const std::string& from, const std::string& to) override {
        step("rename", from);
        need(from);
        record({.kind = operation::rename,
                .of = need(detail::directory_of(from)),
                .name = detail::base_of(from),
                .other = detail::base_of(to),
                .to = need(detail::directory_of(to))});
    }
    void remove(const std::string& path) override {
        step("remove", path);
        if (const auto& n = nodes_[need(path)]; n.is_directory && !n.names.empty())
            detail::refuse_file("remove '" + path + "'", ENOTEMPTY);
        record({.kind = operation::remove, .of = need(detail::directory_of(path)), .name = detail::base_of(path)});
    }
    void make_directory(const std::string& path) override {
        step("mkdir", path);
        if (find(path) != none) return;
        record({.kind = operation::make_directory,
                .of = need(detail::directory_of(path)),
                .node = nodes_.size(),
                .name = detail::base_of(path)});
    }
    void sync_directory(const std::string& path) override {
        step("fsync", path);
        record({.kind = operation::sync_directory, .of = need(path)});
    }
    std::vector<std::string> list(const std::string& path) override {
        step("list", path);
        std::vector<std::string> names;
        const auto& n = nodes_[need(path)];
        if (!n.is_directory) detail::refuse_file("list '" + path + "'", ENOTDIR);
        for (const auto& [name, node] : n.names) names.push_back(name);
        return names;
    }
    bool exists(const std::string& path) override { return find(path) != none; }

private:
    static constexpr std::size_t none = ~std::size_t(0);
    struct entry {
        bool is_directory = false;
        std::string bytes = {};
        std::map<std::string, std::size_t> names = {};
    };
    class output final : public output_file {
    public:
        output(model_files& of, std::size_t node, std::string path) : of_(of), node_(node), path_(std::move(path)) {}
        void append(std::string_view bytes) override {
            write_at(end_, bytes);
            end_ += bytes.size();
        }
        void write_at(std::uint64_t offset, std::string_view bytes) override {
            try {
                of_.step("write", path_);
            } catch (const error&) { // a short write
                of_.record({.kind = operation::data,
                            .of = node_,
                            .offset = offset,
                            .bytes = std::string(bytes.substr(0, bytes.size() / 2))});
                throw;
            }
            of_.record({.kind = operation::data, .of = node_, .offset = offset, .bytes = std::string(bytes)});
        }
        void sync() override {
            of_.step("fsync", path_);
            of_.record({.kind = operation::sync, .of = node_});
        }
        void close() override { of_.step("close", path_); }

    private:
        model_files& of_;
        std::size_t node_;
        std::string path_;
        std::uint64_t end_ = 0;
    };
    class input final : public input_file {
    public:
        input(model_files& of, std::string bytes, std::string path)
            : of_(of), bytes_(std::move(bytes)), path_(std::move(path)) {}
        std::uint64_t size() const override { return bytes_.size(); }
        void read_at(std::uint64_t offset, void* to, std::size_t bytes) const override {
            of_.step("read", path_);
            if (offset > bytes_.size() || bytes > bytes_.size() - offset) throw data_loss("read: the file ends");
            bytes_.copy(static_cast<char*>(to), bytes, static_cast<std::size_t>(offset));
        }

    private:
        model_files& of_;
        std::string bytes_, path_;
    };

    void step(const char* what, const std::string& path) {
        ++calls_;
        if (left_ > 0 && --left_ == 0) detail::refuse_file(std::string(what) + " '" + path + "'", problem_);
    }
    void record(operation o) {
        apply(o);
        log_.push_back(std::move(o));
    }
    void apply(const operation& o) {
        while (nodes_.size() <= std::max(o.node, o.of)) nodes_.emplace_back();
        auto& in = nodes_[o.of];
        switch (o.kind) {
        case operation::create:
            nodes_[o.node].bytes.clear();
            in.names[o.name] = o.node;
            break;
        case operation::data:
            if (in.bytes.size() < o.offset + o.bytes.size())
                in.bytes.resize(static_cast<std::size_t>(o.offset) + o.bytes.size());
            in.bytes.replace(static_cast<std::size_t>(o.offset), o.bytes.size(), o.bytes);
            break;
        case operation::rename:
            if (const auto at = in.names.find(o.name); at != in.names.end()) { // its creation may be lost
                const auto node = at->second;
                in.names.erase(at);
                nodes_[o.to].names[o.other] = node;
            }
            break;
        case operation::remove: in.names.erase(o.name); break;
        case operation::make_directory:
            nodes_[o.node].is_directory = true;
            in.names[o.name] = o.node;
            break;
        case operation::sync:
        case operation::sync_directory: break;
        }
    }
    std::size_t find(const std::string& path) const {
        std::size_t at = 0;
        for (std::string_view rest = path; !rest.empty() && rest != ".";) {
            const auto slash = rest.find('/');
            const auto& names = nodes_[at].names;
            const auto next = names.find(std::string(rest.substr(0, slash)));
            if (next == names.end()) return none;
            at = next->second;
            rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
        }
        return at;
    }
    std::size_t need(const std::string& path) const {
        const auto node = find(path);
        if (node == none) detail::refuse_file("find '" + path + "'", ENOENT);
        return node;
    }

    std::vector<entry> nodes_;
    std::vector<operation> log_;
    std::size_t durable_ = 0, left_ = 0, calls_ = 0;
    int problem_ = 0;
};

/// Calls read() for each single-bit change and each truncation of a file. Returns how many of them were read without an error of rill. Other
/// exceptions, and what a sanitizer finds, end the test.
inline std::size_t damages_read(model_files& files, const std::string& path, const std::function<void()>& read,
                                std::size_t stride = 1) {
    const std::string good = files.contents(path);
    std::size_t unnoticed = 0;
    const auto attempt = [&](const std::string& bytes) {
        files.contents(path) = bytes;
        try {
            read();
            ++unnoticed;
        } catch (const error&) {}
    };
    for (std::size_t bit = 0; bit < good.size() * 8; bit += stride) {
        std::string bad = good;
        bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ 1 << bit % 8);
        attempt(bad);
    }
    for (std::size_t n = 0; n < good.size(); ++n) attempt(good.substr(0, n));
    files.contents(path) = good;
    return unnoticed;
}

template <class T> any_array array_of(const dims& shape, const std::vector<T>& values) {
    any_array a(dtype_of<T>, shape);
    std::copy(values.begin(), values.end(), static_cast<T*>(a.mutable_data()));
    return a;
}

} // namespace io_test
