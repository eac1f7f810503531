// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include <rill/distributed/wire_meta.hpp>

#include "damaged.hpp"
#include "seeds.hpp"

// Bytes that may pass for messages, drawn from a seed.

namespace damaged_bytes {

using namespace rill::detail;
using rill::dims, rill::dtype;

/// Returns the arguments of some method, with random numbers, or random bytes.
inline std::string random_meta(seeds::draws& draws) {
    const tensor_meta value{{dtype::float32, dims{3}}, static_cast<std::uint32_t>(draws(3)), draws(20), draws(20)};
    switch (draws(14)) {
    case 0: return bytes_of_meta(hello_meta{"/job:worker/replica:0/task:0", "/job:ps/replica:0/task:0", "", "data"});
    case 1:
        return bytes_of_meta(register_meta{.run = draws(3),
                                           .names = {{"x:0"}, {"y:0"}, {"t"}},
                                           .sends = {{1, "a"}},
                                           .receives = {{2, "b"}},
                                           .edges = 3,
                                           .progress_timeout = 1,
                                           .device_count = {{"cpu", 2}, {"far", 1}}});
    case 2:
        return bytes_of_meta(
            step_meta{draws(3), draws(5), draws(5), static_cast<std::uint8_t>(draws(2)), {value, value}});
    case 3: return bytes_of_meta(push_meta{draws(3), draws(5), static_cast<std::uint32_t>(draws(4)), draws(3), value});
    case 4: return bytes_of_meta(abort_meta{draws(5), static_cast<std::uint32_t>(draws(20)), "why"});
    case 5: return bytes_of_meta(names_meta{{"a", ""}});
    case 6: return bytes_of_meta(sizes_meta{{draws(20), draws(3)}});
    case 7: return bytes_of_meta(offset_meta{draws(20)});
    case 8: return bytes_of_meta(session_meta{.device_count = {{"cpu", 2}}, .progress_timeout = 7});
    case 9: return bytes_of_meta(run_step_meta{draws(3), static_cast<std::uint8_t>(draws(2)), {value}});
    case 10: return bytes_of_meta(devices_meta{{{"/device:CPU:0", "CPU", draws(9)}}});
    case 11: return bytes_of_meta(fence_meta{draws(3), static_cast<std::uint8_t>(draws(2))});
    case 12: return bytes_of_meta(resources_meta{{{"/job:ps/replica:0/task:0", "", "q", "Queue", {"0"}}}, {value}});
    default: return random_bytes(draws, 200);
    }
}

} // namespace damaged_bytes
