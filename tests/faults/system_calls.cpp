// SPDX-License-Identifier: BSD-3-Clause
// The file system of the operating system, where its calls are interrupted, write a part, or refuse.
#include <rill/io/file_system.hpp>

#if defined(__linux__)
#include <atomic>
#include <cerrno>
#include <csignal>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rill/io/checkpoint.hpp>

#include "catch.hpp"
#include "io/in_child.hpp"
#include "io/model_files.hpp"
#include "io/temporary.hpp"

namespace faults {

std::atomic<bool> disturbs{false};
std::atomic<unsigned> calls{0};

/// Returns true for every other call, which a signal interrupts.
bool is_interrupted() {
    if (!disturbs || calls.fetch_add(1) % 2 != 0) return false;
    errno = EINTR;
    return true;
}
std::size_t part_of(std::size_t bytes) { return disturbs && bytes > 7 ? bytes / 2 : bytes; }

} // namespace faults

// In place of the C library's: they may be interrupted, and read or write a part.
extern "C" ssize_t pwrite(int file, const void* from, size_t bytes, off_t offset) {
    return faults::is_interrupted() ? -1 : syscall(SYS_pwrite64, file, from, faults::part_of(bytes), offset);
}
extern "C" ssize_t pread(int file, void* to, size_t bytes, off_t offset) {
    return faults::is_interrupted() ? -1 : syscall(SYS_pread64, file, to, faults::part_of(bytes), offset);
}
extern "C" int fsync(int file) { return faults::is_interrupted() ? -1 : static_cast<int>(syscall(SYS_fsync, file)); }

using namespace rill;
using io_test::array_of;

namespace test_system_calls {

std::vector<named_array> arrays(std::int64_t n, float first) {
    return {{"w", array_of<float>({n}, std::vector<float>(static_cast<std::size_t>(n), first))}};
}

} // namespace test_system_calls

TEST_CASE("system calls: G18: interrupted calls are made again, and half a write is completed") {
    const io_test::temporary_directory here;
    faults::disturbs = true;
    std::string path;
    float read = 0;
    try {
        path = detail::write_checkpoint(here / "m", test_system_calls::arrays(100000, 3), {.step = 1});
        read = checkpoint_reader(path).read("w").elements<float>()[99999];
    } catch (...) {
        faults::disturbs = false;
        throw;
    }
    faults::disturbs = false;
    CHECK(faults::calls > 20);
    CHECK(read == 3);
    CHECK(checkpoint_reader(path).read_all().size() == 1);
}

TEST_CASE(
    "system calls: G18: a file that may not grow any more keeps the last checkpoint, the error names file and call") {
    const io_test::temporary_directory here;
    detail::write_checkpoint(here / "m", test_system_calls::arrays(10, 1), {.step = 1});
    const int status = io_test::in_child([&] {
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{100000, 100000};
        if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
        try {
            detail::write_checkpoint(here / "m", test_system_calls::arrays(100000, 2), {.step = 2});
            return 2;
        } catch (const error& problem) {
            const std::string text = problem.what();
            return text.find("write '" + (here / ".tmp-m-0000000002-")) != std::string::npos ? 0 : 3;
        }
    });
    CHECK(status == 0);
    CHECK(checkpoint_reader(latest_checkpoint(here.path())).read("w").elements<float>()[9] == 1);
    CHECK(file_system::real().list(here.path()).size() == 2); // LATEST and the checkpoint
}

TEST_CASE("system calls: a directory that can't be written is named") {
    const io_test::temporary_directory here;
    const std::string closed = here / "closed";
    file_system::real().make_directory(closed);
    REQUIRE(chmod(here.path().c_str(), 0755) == 0);
    REQUIRE(chmod(closed.c_str(), 0555) == 0);
    const int status = io_test::in_child([&] {
        constexpr uid_t nobody = 65534; // root may write everywhere
        if (geteuid() == 0 && setuid(nobody) != 0) return 1;
        try {
            detail::write_checkpoint(closed + "/m", test_system_calls::arrays(10, 1), {.step = 1});
            return 2;
        } catch (const permission_denied& problem) {
            return std::string(problem.what()).find(closed) != std::string::npos ? 0 : 3;
        }
    });
    CHECK(status == 0);
    CHECK(file_system::real().list(closed).empty());
}
#endif
