// SPDX-License-Identifier: BSD-3-Clause
// What the op harness checks of every op, compiled once for all tests.
#include "ops/harness.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#if defined(__linux__)
#include <csignal>

#include <sys/mman.h>
#include <unistd.h>
#endif

#include <rill/core/algorithm.hpp>
#include <rill/device/array_slots.hpp>
#include <rill/device/kernel_registry.hpp>

#include "ops/reads.hpp"

#if RILL_COMPILED
#include <rill/all_kernels.hpp> // tests look up kernels that they do not name
#endif

namespace op_test {

index_t source_of(index_t flat, const dims& space, const dims& from) {
    index_t at = 0, step = 1;
    for (int i = space.rank - 1, j = from.rank - 1; j >= 0; --i, --j) {
        at += (from[j] == 1 ? 0 : flat % space[i]) * step;
        flat /= space[i];
        step *= from[j];
    }
    return at;
}
dims broadcast_of(const std::vector<dims>& shapes) {
    dims space;
    for (const auto& s : shapes) space = rules::broadcast(space, s).shape;
    return space;
}
any_array spread_over(const any_array& a, const dims& space) { // of doubles
    any_array out(dtype::float64, space);
    for (index_t i = 0; i < space.size(); ++i)
        static_cast<double*>(out.mutable_data())[i] =
            a.elements<double>()[static_cast<std::size_t>(source_of(i, space, a.shape()))];
    return out;
}

std::vector<double> list(const any_array& x) { return {x.elements<double>().begin(), x.elements<double>().end()}; }

std::vector<feed_value> feeds(const std::vector<any_tensor>& xs, const std::vector<any_array>& at) {
    std::vector<feed_value> all;
    for (std::size_t i = 0; i < xs.size(); ++i) all.push_back({xs[i], {}, at[i]});
    return all;
}
any_array run(const session& s, const any_tensor& y, const std::vector<any_tensor>& xs,
              const std::vector<any_array>& at) {
    return s.run(y, feeds(xs, at));
}

std::vector<double> reals(const any_array& a) {
    if (a.dtype() == dtype::float32) return {a.elements<float>().begin(), a.elements<float>().end()};
    if (a.dtype() == dtype::half) {
        const auto all = a.elements<half>();
        std::vector<double> wide;
        for (const half v : all) wide.push_back(static_cast<double>(static_cast<float>(v)));
        return wide;
    }
    const auto* from = static_cast<const double*>(a.data());
    REQUIRE((a.dtype() == dtype::float64 || a.dtype() == dtype::complex128));
    return {from, from + a.size() * (a.dtype() == dtype::complex128 ? 2 : 1)};
}

bool near(double got, double wanted, double tolerance, double scale) {
    if (std::isnan(wanted)) return std::isnan(got);
    return got == wanted || std::abs(got - wanted) <= tolerance * (1 + std::abs(wanted) + scale);
}
std::string far_apart(const std::vector<double>& got, const std::vector<double>& wanted, double tolerance,
                      double scale) {
    if (got.size() != wanted.size())
        return std::to_string(got.size()) + " numbers instead of " + std::to_string(wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i)
        if (!near(got[i], wanted[i], tolerance, scale)) {
            std::ostringstream text;
            text.precision(12);
            text << "number " << i << " is " << got[i] << " instead of " << wanted[i];
            return text.str();
        }
    return {};
}

any_tensor interpreted(const any_tensor& t) {
    const rill::node& n = *t.node();
    if (n.op->kernel_name() != fused_op::name) return t;
    auto spec = static_cast<const fused_op*>(n.op->attributes())->spec;
    spec.kind = fused_spec::form::program;
    return endpoint{detail::add_node(t.graph(), make_op(fused_op{std::move(spec)}), n.inputs), t.end().port};
}

// ---- what kernels read -----------------------------------------------------------------------------------------------------

#if defined(__linux__)

/// Copies of arrays in memory without access. The first touch of an array is noted, and opens it.
class guarded_arrays {
public:
    explicit guarded_arrays(const std::vector<any_array>& arrays) {
        const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        for (const auto& a : arrays) {
            const std::size_t bytes = a.type().bytes(), room = (bytes / page + 1) * page;
            void* const at = mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            REQUIRE(at != MAP_FAILED);
            if (bytes > 0) std::memcpy(at, a.data(), bytes);
            all_.push_back({static_cast<std::byte*>(at), room, 0});
        }
    }
    guarded_arrays(const guarded_arrays&) = delete;
    ~guarded_arrays() {
        for (const auto& a : all_) munmap(a.at, a.room);
    }

    void* data(std::size_t i) { return all_[i].at; }
    bool touched(std::size_t i) const { return all_[i].touched != 0; }

    /// Calls f() while the arrays are guarded, but for those in `open`. Returns false if it throws.
    template <class F> bool watch(const input_list& open, const F& f) {
        struct sigaction ours = {}, before = {};
        ours.sa_sigaction = &note;
        ours.sa_flags = SA_SIGINFO;
        sigemptyset(&ours.sa_mask);
        watched_ = this;
        sigaction(SIGSEGV, &ours, &before);
        for (std::size_t i = 0; i < all_.size(); ++i)
            if (!rill::detail::contains(open, static_cast<std::int32_t>(i)))
                mprotect(all_[i].at, all_[i].room, PROT_NONE);
        bool done = true;
        try {
            f();
        } catch (const std::exception&) {
            done = false;
        }
        sigaction(SIGSEGV, &before, nullptr);
        watched_ = nullptr;
        return done;
    }

private:
    struct guarded {
        std::byte* at;
        std::size_t room;
        volatile std::sig_atomic_t touched;
    };

    static void note(int, siginfo_t* fault, void*) {
        const auto* const where = static_cast<const std::byte*>(fault->si_addr);
        for (auto& a : watched_->all_)
            if (where >= a.at && where < a.at + a.room) {
                a.touched = 1;
                mprotect(a.at, a.room, PROT_READ | PROT_WRITE);
                return;
            }
        std::signal(SIGSEGV, SIG_DFL); // a fault elsewhere ends the program when it comes again
    }

    std::vector<guarded> all_;
    static inline guarded_arrays* watched_ = nullptr;
};

/// The values of inputs, for shape rules.
struct array_values final : input_values {
    const std::vector<any_array>& all;
    explicit array_values(const std::vector<any_array>& a) : all(a) {}
    const any_array* value(std::size_t i) const override { return &all[i]; }
};

/// Returns the same arrays with infinity for each floating element.
static std::vector<any_array> infinite(const std::vector<any_array>& arrays) {
    std::vector<any_array> out;
    for (const auto& a : arrays) {
        auto& copy = out.emplace_back(rill::detail::owned_copy(a));
        if (a.dtype() == dtype::float32)
            std::fill_n(static_cast<float*>(copy.mutable_data()), a.size(), std::numeric_limits<float>::infinity());
        else if (a.dtype() == dtype::float64)
            std::fill_n(static_cast<double*>(copy.mutable_data()), a.size(), std::numeric_limits<double>::infinity());
    }
    return out;
}

/// Returns for each input whether a kernel of the op touches it; nothing if the kernel can't run.
static std::vector<char> touched_inputs(const op& o, const std::vector<any_array>& inputs,
                                        const std::vector<tensor_type>& in, const std::vector<tensor_type>& out) {
    const auto factory = find_kernel(cpu_device().name, o.kernel_name(), o.kernel_type(in, out));
    if (!factory) return {};
    kernel_request request{in, out};
    guarded_arrays guarded(inputs);
    auto results = o.has_dynamic_outputs() ? std::vector<any_array>(out.size()) : rill::detail::arrays_of(out);
    const bool ran = guarded.watch(o.writes(), [&] {
        const kernel run = (*factory)(o.attributes(), request);
        const rill::detail::memory_block scratch(default_allocator(), request.scratch_bytes);
        std::vector<void*> slots;
        std::vector<std::int32_t> numbers;
        const auto value_at = [&](void* data) {
            numbers.push_back(static_cast<std::int32_t>(slots.size()));
            slots.push_back(data);
        };
        for (std::size_t i = 0; i < in.size(); ++i) {
            value_at(guarded.data(i));
            if (rill::detail::contains(o.writes(), static_cast<std::int32_t>(i)))
                slots.push_back(guarded.data(i)); // the new value, in the place of the old one
        }
        if (!o.has_dynamic_outputs())
            for (auto& r : results) value_at(r.mutable_data());
        const random_stream stream = request.next_stream ? request.next_stream() : random_stream{};
        const execution_context on{.scratch = scratch.data(), .random = &stream};
        const step_context step;
        kernel_args args{slots.data(), numbers.data(), numbers.data() + in.size(), on, &step};
        args.sized = results.data();
        run(args);
    });
    std::vector<char> touched;
    for (std::size_t i = 0; ran && i < in.size(); ++i) touched.push_back(guarded.touched(i));
    return touched;
}

/// Returns false for shapes that decide much by themselves: a running sum without the element itself does not read an axis of one element.
static bool is_telling(const dims& shape) {
    for (int i = 0; i < shape.rank; ++i)
        if (shape[i] < 2) return false;
    return true;
}

std::string misread(const op& o, const std::vector<any_array>& inputs) {
    if (o.role() != op_role::ordinary || o.regions() || o.flow() || o.is_async()) return {};
    std::vector<tensor_type> in, out;
    for (const auto& a : inputs) in.push_back(a.type());
    try {
        const array_values values(inputs);
        out = o.outputs({in, &values});
    } catch (const error&) {
        return {};
    }
    const auto stated = o.shape_only_inputs(in.size());
    const auto is_string = [](const tensor_type& t) { return t.type == dtype::string; };
    const auto is_empty = [](const tensor_type& t) {
        return t.type == dtype::invalid || (t.shape.complete() && t.shape.size() == 0);
    };
    const auto is_open = [](const tensor_type& t) { return !t.shape.complete(); };
    if (rill::detail::any_of(in, is_string) || out.empty() || rill::detail::any_of(out, is_empty) ||
        (!o.has_dynamic_outputs() && rill::detail::any_of(out, is_open)))
        return {};

    const auto touched = touched_inputs(o, inputs, in, out);
    if (touched.empty()) return {};
    const auto name = [&](std::size_t i) { return std::string(o.name()) + ": input " + std::to_string(i); };
    const auto holds = [](const input_list& all, std::size_t i) {
        return rill::detail::contains(all, static_cast<std::int32_t>(i));
    };
    for (std::size_t i = 0; i < in.size(); ++i)
        if (touched[i] && holds(stated, i)) return name(i) + " is read, and shape_only_inputs() names it";
    if (o.fused()) return {}; // compiled gradients may leave an operand alone
    const auto rarely = touched_inputs(o, infinite(inputs), in, out);
    for (std::size_t i = 0; i < in.size(); ++i) {
        const bool exempt = holds(stated, i) || holds(o.writes(), i) || holds(o.shape_inputs(), i) ||
                            holds(o.may_be_uninitialized(), i) || !is_telling(in[i].shape);
        if (!exempt && !touched[i] && (rarely.empty() || !rarely[i]))
            return name(i) + " is not read, and shape_only_inputs() does not name it";
    }
    return {};
}

#else

std::string misread(const op&, const std::vector<any_array>&) { return {}; }

#endif

void check_reads(const session& s, const graph& g, const std::vector<any_tensor>& xs,
                 const std::vector<any_array>& at) {
    static std::set<std::pair<std::uint64_t, std::size_t>> checked; // by op and number of inputs
    const auto has_value = [&](const endpoint& e) {
        const auto role = e.from->op->role();
        const bool fed = rill::detail::any_of(xs, [&](const any_tensor& x) { return x.end() == e; });
        return !e.from->inside && e.from->op->writes().empty() &&
               (role == op_role::ordinary || role == op_role::constant || fed);
    };
    std::vector<const rill::node*> nodes;
    std::vector<any_tensor> values;
    for (const auto* n : g.nodes()) {
        if (n->inside || n->inputs.empty() || !rill::detail::all_of(n->inputs, has_value)) continue;
        if (n->op->fused() && n->op->shape_only_inputs(n->inputs.size()).empty()) continue; // nothing is stated
        if (!checked.insert({n->op->hash(), n->inputs.size()}).second) continue;
        nodes.push_back(n);
        for (const auto& e : n->inputs) values.emplace_back(e);
    }
    if (nodes.empty()) return;
    const std::vector<any_array> all = s.run(values, feeds(xs, at));
    std::size_t first = 0;
    for (const auto* n : nodes) {
        const auto count = n->inputs.size();
        const auto from = all.begin() + static_cast<std::ptrdiff_t>(first);
        INFO(n->name);
        CHECK(misread(*n->op, {from, from + static_cast<std::ptrdiff_t>(count)}) == "");
        first += count;
    }
}

static double magnitude(const any_array& a) {
    double sum = 0;
    for (const double v : reals(a)) sum += std::abs(v);
    return sum;
}

void gradient_check::check(const any_tensor& y, int order, const std::string& what) const {
    const auto value = run(s, y, xs, at);
    any_array weights(value.dtype(), value.shape());
    auto* w = static_cast<double*>(weights.mutable_data());
    const auto drawn = points<double>({0.25, 1.75}, static_cast<index_t>(reals(value).size()), 5);
    std::copy(drawn.begin(), drawn.end(), w);
    const auto d = rill::gradients({y}, xs, {.grad_ys = {constant(weights)}, .stop = {}});
    for (std::size_t k = 0; k < xs.size(); ++k) {
        const std::string name = "d(" + what + ")/dx" + std::to_string(k);
        INFO(name << " at " << to_string(at[k].type()));
        const auto wanted = numeric(y, k, drawn);
        if (!d[k]) {
            CHECK(far_apart(std::vector<double>(wanted.size()), wanted, tolerance) == "");
            continue;
        }
        const auto got = run(s, d[k], xs, at);
        CHECK(got.type() == at[k].type());
        CHECK(far_apart(reals(got), wanted, tolerance, magnitude(value) * 1e-4) == "");
        CHECK(far_apart(reals(run(s, interpreted(d[k]), xs, at)), reals(got), 1e-12) == "");
        if (order > 1) check(d[k], order - 1, name);
    }
}

void gradient_check::check_sum(const any_tensor& y, const any_tensor& d, std::size_t k) const {
    const std::vector<double> ones(reals(run(s, y, xs, at)).size(), 1.0);
    CHECK(far_apart(reals(run(s, d, xs, at)), numeric(y, k, ones), tolerance, magnitude(run(s, y, xs, at)) * 1e-4) ==
          "");
}

double gradient_check::dot(const any_tensor& y, const std::vector<any_array>& there,
                           const std::vector<double>& w) const {
    const auto value = reals(run(s, y, xs, there));
    double sum = 0;
    for (std::size_t i = 0; i < value.size(); ++i) sum += w[i] * value[i];
    return sum;
}

std::vector<double> gradient_check::numeric(const any_tensor& y, std::size_t k, const std::vector<double>& w) const {
    std::vector<double> out;
    for (std::size_t i = 0; i < reals(at[k]).size(); ++i) {
        const auto moved = [&](double step) {
            auto there = at;
            any_array copy(at[k].dtype(), at[k].shape());
            detail::copy_elements(at[k].dtype(), at[k].data(), copy.mutable_data(), copy.size());
            static_cast<double*>(copy.mutable_data())[i] += step;
            there[k] = copy;
            return dot(y, there, w);
        };
        const double h = 3e-4;
        out.push_back((8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h));
    }
    return out;
}

namespace detail_ {

template struct value_check<float, float>;
template struct value_check<double, double>;
template struct value_check<int, int>;
template struct value_check<std::complex<float>, std::complex<float>>;
template struct value_check<std::complex<double>, std::complex<double>>;
template struct value_check<float, float, float>;
template struct value_check<double, double, double>;
template struct value_check<int, int, int>;
template struct value_check<std::uint8_t, std::uint8_t, std::uint8_t>;
template void check_node(const any_tensor&, const std::vector<any_tensor>&, const std::vector<any_array>&,
                         const xt::xarray<float>&, const node_options&);
template void check_node(const any_tensor&, const std::vector<any_tensor>&, const std::vector<any_array>&,
                         const xt::xarray<double>&, const node_options&);
template void check_node(const any_tensor&, const std::vector<any_tensor>&, const std::vector<any_array>&,
                         const xt::xarray<int>&, const node_options&);

void pairs_refused(const std::string& name, const std::function<any_tensor(const any_tensor&, const any_tensor&)>& f) {
    const auto three = any_placeholder("three", dtype::float32, {3}),
               four = any_placeholder("four", dtype::float32, {4}),
               doubles = any_placeholder("doubles", dtype::float64, {3});
    CHECK_THROWS_WITH(f(three, four),
                      contains(name + ": the shapes do not broadcast") && contains("[3]") && contains("[4]"));
    CHECK_THROWS_AS(f(three, doubles), invalid_argument);
    CHECK_THROWS_WITH(f(three, doubles),
                      contains(name + ": the dtypes differ") && contains("float32") && contains("float64"));
}

void broadcast_gradients(const applied<double>& f, const applied<float>& single, const std::vector<range>& in) {
    const std::size_t n = in.size();
    const session s(f.y.graph());
    const auto make = [](const any_tensor& y, std::vector<any_tensor> xs) {
        const any_tensor seed = any_placeholder("seed", y.dtype());
        const auto d = rill::gradients({y}, xs, {.grad_ys = {seed}, .stop = {}});
        xs.push_back(seed);
        return std::pair(xs, d);
    };
    const auto [xs, d] = make(f.y, f.xs);
    const auto [fs, df] = make(single.y, single.xs);
    for (const dims& full : {dims{4, 5}, dims{40, 70}, dims{3, 1100}, dims{1500, 2}})
        for (std::size_t k = 0; k < n; ++k)
            for (const dims& narrow : {full, dims{1, full[1]}, dims{full[0], 1}, dims{1, 1}}) {
                INFO("operand " << k << " of shape " << to_string(narrow) << " over " << to_string(full));
                std::vector<any_array> at, spread, floats;
                for (std::size_t i = 0; i <= n; ++i) {
                    at.push_back(
                        point_array<double>(i < n ? in[i] : range{-1, 1}, i == k ? narrow : full, static_cast<int>(i)));
                    spread.push_back(spread_over(at.back(), full));
                    const auto all = at.back().elements<double>();
                    floats.push_back(make_array<float>(at.back().shape(), std::vector<float>(all.begin(), all.end())));
                }
                for (std::size_t i = 0; i < n; ++i) {
                    if (!d[i]) continue;
                    const auto whole = reals(run(s, d[i], xs, spread));
                    std::vector<double> wanted(static_cast<std::size_t>(at[i].size()));
                    double scale = 0;
                    for (std::size_t e = 0; e < whole.size(); ++e) {
                        wanted[static_cast<std::size_t>(source_of(static_cast<index_t>(e), full, at[i].shape()))] +=
                            whole[e];
                        scale += std::abs(whole[e]) / static_cast<double>(wanted.size());
                    }
                    CHECK(far_apart(reals(run(s, d[i], xs, at)), wanted, 1e-12, scale) == "");
                    CHECK(far_apart(reals(run(s, df[i], fs, floats)), wanted, 1e-4, scale) == "");
                }
                if (n == 1) break; // one operand does not stretch
            }
}

void stretched_gradients(const applied<double>& f, const std::vector<range>& in, int order) {
    const session s(f.y.graph());
    for (std::size_t k = 0; k < in.size(); ++k)
        for (const dims& narrow : {dims{1, 3}, dims{2, 1}, dims{1, 1}}) {
            std::vector<any_array> at;
            for (std::size_t i = 0; i < in.size(); ++i)
                at.push_back(point_array<double>(in[i], i == k ? narrow : dims{2, 3}, static_cast<int>(i)));
            gradient_check{s, f.xs, at}.check(f.y, order);
        }
}

} // namespace detail_

} // namespace op_test
