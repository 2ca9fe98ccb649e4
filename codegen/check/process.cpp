#include "codegen/check/process.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace deltaloom::codegen {
namespace {

// Reads the child's pipe to its end or to the deadline, then collects it. With `heard`, what is read goes there line by
// line and puts the deadline off.
Finished collect(pid_t child, int pipe_end, double timeout_seconds, Say const* heard) {
    using namespace std::chrono;
    Finished finished;
    auto deadline = steady_clock::now() + duration<double>(timeout_seconds);
    char buffer[4096];
    while (true) {
        auto const left = duration_cast<milliseconds>(deadline - steady_clock::now()).count();
        pollfd wait{pipe_end, POLLIN, 0};
        int const ready = left > 0 ? poll(&wait, 1, int(left)) : 0;
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) {
            finished.timed_out = true;
            kill(-child, SIGKILL);
            kill(child, SIGKILL);
            break;
        }
        ssize_t const got = read(pipe_end, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        finished.output.append(buffer, std::size_t(got));
        if (!heard) continue;
        deadline = steady_clock::now() + duration<double>(timeout_seconds);
        std::size_t begin = 0;
        for (std::size_t end; (end = finished.output.find('\n', begin)) != std::string::npos; begin = end + 1)
            (*heard)(finished.output.substr(begin, end - begin));
        finished.output.erase(0, begin);
    }
    close(pipe_end);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    finished.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return finished;
}

Finished in_child(std::function<void(int pipe_end)> const& body, double timeout_seconds, Say const* heard = nullptr) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) return {-1, std::strerror(errno), false};
    pid_t const child = fork();
    if (child < 0) {
        close(ends[0]), close(ends[1]);
        return {-1, std::strerror(errno), false};
    }
    if (child == 0) {
        setpgid(0, 0);
        close(ends[0]);
        body(ends[1]);
        _exit(127);
    }
    close(ends[1]);
    return collect(child, ends[0], timeout_seconds, heard);
}

void write_all(int end, std::string const& text) {
    for (std::size_t done = 0; done < text.size();) {
        ssize_t const n = write(end, text.data() + done, text.size() - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) _exit(126);
        done += std::size_t(n);
    }
}

} // namespace

Finished run_program(std::vector<std::string> const& command, double timeout_seconds) {
    std::vector<char*> arguments;
    for (auto const& a : command) arguments.push_back(const_cast<char*>(a.c_str()));
    arguments.push_back(nullptr);
    return in_child(
        [&](int end) {
            int const nothing = open("/dev/null", O_RDONLY);
            dup2(nothing, 0), dup2(end, 1), dup2(end, 2);
            execvp(arguments[0], arguments.data());
        },
        timeout_seconds);
}

Finished run_isolated(std::function<void(Say const&)> const& work, double silence_seconds, Say const& heard) {
    return in_child(
        [&](int end) {
            try {
                work([end](std::string const& line) { write_all(end, line + "\n"); });
            } catch (std::exception const& e) {
                write_all(end, e.what());
                _exit(125);
            }
            _exit(0);
        },
        silence_seconds, &heard);
}

} // namespace deltaloom::codegen
