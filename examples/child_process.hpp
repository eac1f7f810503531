// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Processes that an example starts of itself, so that one command shows a cluster. Systems without fork: has_child_processes is false.
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#if defined(__unix__) || defined(__APPLE__)
#include <cerrno>
#include <csignal>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

inline constexpr bool has_child_processes = true;

/// A program that runs beside this one. Its destructor ends it.
class child_process {
public:
    /// Starts a program. `variables` are added to its environment.
    child_process(const std::string& program, const std::vector<std::string>& arguments,
                  const std::vector<std::pair<std::string, std::string>>& variables = {})
        : id_(fork()) {
        if (id_ != 0) return;
#if defined(__linux__)
        prctl(PR_SET_PDEATHSIG, SIGKILL); // it ends with this program, whatever ends that
#endif
        for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
        std::vector<char*> all{const_cast<char*>(program.c_str())};
        for (const auto& a : arguments) all.push_back(const_cast<char*>(a.c_str()));
        all.push_back(nullptr);
        execv(program.c_str(), all.data());
        _exit(127);
    }
    child_process(const child_process&) = delete;
    ~child_process() { end(); }

    /// Returns the number that the system gave it.
    int id() const { return id_; }
    /// Lets it stand still, as a machine that swaps does, until thaw().
    void freeze() const {
        kill(id_, SIGSTOP);
        siginfo_t stopped{}; // its threads stop one after the other
        while (waitid(P_PID, static_cast<id_t>(id_), &stopped, WSTOPPED | WEXITED | WNOWAIT) < 0 && errno == EINTR) {}
    }
    void thaw() const { kill(id_, SIGCONT); }
    /// Asks it to end, as Ctrl-C does.
    void interrupt() const { kill(id_, SIGINT); }
    /// Ends it at once, as a crash does.
    void end() {
        if (id_ <= 0) return;
        kill(id_, SIGKILL);
        wait();
    }
    /// Waits until it ends by itself, and returns its exit status; -1 if a signal ended it.
    int wait() {
        int status = 0;
        while (waitpid(id_, &status, 0) < 0 && errno == EINTR) {}
        id_ = 0;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

private:
    pid_t id_;
};

/// Returns addresses of this machine where nobody listens.
inline std::vector<std::string> free_addresses(int count) {
    std::vector<int> held;
    std::vector<std::string> all;
    for (int i = 0; i < count; ++i) {
        held.push_back(socket(AF_INET, SOCK_STREAM, 0));
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof at;
        if (bind(held.back(), reinterpret_cast<sockaddr*>(&at), size) != 0 ||
            getsockname(held.back(), reinterpret_cast<sockaddr*>(&at), &size) != 0)
            std::abort();
        all.push_back("127.0.0.1:" + std::to_string(ntohs(at.sin_port)));
    }
    for (const int s : held) close(s);
    return all;
}

#else

inline constexpr bool has_child_processes = false;

class child_process {
public:
    child_process(const std::string&, const std::vector<std::string>&,
                  const std::vector<std::pair<std::string, std::string>>& = {}) {}
    int id() const { return 0; }
    void freeze() const {}
    void thaw() const {}
    void interrupt() const {}
    void end() {}
    int wait() { return 0; }
};
inline std::vector<std::string> free_addresses(int) { return {}; }

#endif

/// Starts a program with such words and, after them, the addresses of all tasks.
inline std::unique_ptr<child_process> start_task(const std::string& program, std::vector<std::string> words,
                                                 const std::vector<std::string>& addresses) {
    words.insert(words.end(), addresses.begin(), addresses.end());
    return std::make_unique<child_process>(program, words);
}
