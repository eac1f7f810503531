// SPDX-License-Identifier: BSD-3-Clause
// Arguments of messages that strangers may send. What reads them throws an error of rill or gives values, and allocates no more than a
// multiple of the bytes that came.
#if RILL_TEST_CLUSTERS
#include <new>
#include <string>
#include <vector>

#include <rill/distributed/tensor_frame.hpp>
#include <rill/distributed/wire_meta.hpp>

#include "catch.hpp"
#include "distributed/damaged_bytes.hpp"
#include "faults/allocations.hpp"
#include "seeds.hpp"

using namespace rill;

namespace test_faults_hostile_bytes {

using namespace rill::detail;
using damaged_bytes::damaged, damaged_bytes::random_bytes, damaged_bytes::random_meta;

/// Reads so many bytes. They may be refused.
template <class F> void reads(std::size_t bytes, const F& read) {
    faults::limit_bytes(64 * bytes + (std::size_t(16) << 10)); // a struct of texts for a few bytes, and an error's text
    try {
        read();
    } catch (const error&) {
    } catch (const std::bad_alloc&) {}
    CHECK_FALSE(faults::end_faults()); // nothing is allocated before sizes are checked
}

template <class... Meta> void read_as_each(const std::string& bytes) {
    (reads(bytes.size(), [&] { (void)meta_of<Meta>(bytes); }), ...);
}

} // namespace test_faults_hostile_bytes

TEST_CASE("hostile bytes: damaged arguments and values allocate at most a multiple of what came", "[random]") {
    using namespace test_faults_hostile_bytes;
    seeds::each(300, [](std::uint64_t seed) {
        seeds::draws draws(seed);
        read_as_each<hello_meta, pong_meta, register_meta, step_meta, push_meta, abort_meta, names_meta, values_meta,
                     trace_meta, run_meta, run_names, sizes_meta, offset_meta, session_meta, opened_meta, run_step_meta,
                     devices_meta, fence_meta, resources_meta>(damaged(draws, random_meta(draws)));
        const std::vector<message_part> payload{message_part(random_bytes(draws, 64)),
                                                message_part(random_bytes(draws, 64))};
        const dtype types[] = {dtype::float32, dtype::string, dtype::boolean, dtype::int64,
                               static_cast<dtype>(draws(40))};
        const index_t extents[] = {0, 1, 3, dyn, -7, index_t(1) << 40, index_t(1) << 62};
        const tensor_meta value{{types[draws(5)], dims{extents[draws(7)], extents[draws(7)]}},
                                static_cast<std::uint32_t>(draws(3)),
                                draws(2) ? draws(70) : ~std::uint64_t(0),
                                draws(2) ? draws(70) : ~std::uint64_t(0)};
        reads(payload[0].size() + payload[1].size(), [&] { (void)decode_tensor(value, payload); });
    });
}
#endif
