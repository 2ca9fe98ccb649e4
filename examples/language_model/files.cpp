#include "files.hpp"

#include "settings.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace lm {
namespace fs = std::filesystem;

void write_file(std::string const& path, std::string const& content) {
    std::error_code none;
    bool const device = fs::exists(path, none) && !fs::is_regular_file(path, none);
    std::string const temporary = device ? path : fmt::format("{}.{}.tmp", path, getpid());
    auto const refuse = [&](int reason) {
        if (!device) unlink(temporary.c_str());
        throw Refusal(fmt::format("cannot write {}: {}; {}", path, std::strerror(reason),
                                  fs::is_regular_file(path, none) ? "the one that was there is as it was"
                                                                  : "nothing was left behind"));
    };
    if (fs::path(path).has_parent_path() && !device) fs::create_directories(fs::path(path).parent_path(), none);
    int const file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) refuse(errno);
    int failed = 0;
    for (std::size_t at = 0; at < content.size() && !failed;) {
        ssize_t const n = write(file, content.data() + at, content.size() - at);
        if (n >= 0)
            at += std::size_t(n);
        else if (errno != EINTR)
            failed = errno;
    }
    if (!failed && !device && fsync(file)) failed = errno;
    if (close(file) && !failed) failed = errno;
    if (!failed && !device && std::rename(temporary.c_str(), path.c_str())) failed = errno;
    if (failed) refuse(failed);
}

std::string read_file(std::string const& path) {
    FILE* const file = std::fopen(path.c_str(), "rb");
    if (!file) throw Refusal(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    std::string content;
    char buffer[1 << 16];
    for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) content.append(buffer, n);
    std::fclose(file);
    return content;
}

} // namespace lm
