#pragma once
// A progress bar on stderr, for a person on a terminal only, and only once something has taken two seconds.
#include <chrono>
#include <cstdio>
#include <string>

namespace deltaloom::codegen::tool {

class Progress {
public:
    Progress(std::string what, int total, bool terminal) : what_(std::move(what)), total_(total), terminal_(terminal) {}
    ~Progress() { clear(); }
    void at(int done, std::string const& label) {
        using namespace std::chrono;
        if (!terminal_ || total_ <= 0 || steady_clock::now() - begin_ < seconds(2)) return;
        double const seconds_gone = duration<double>(steady_clock::now() - begin_).count();
        constexpr int width = 32;
        int const full = width * done / total_;
        std::string bar(std::size_t(full), '=');
        bar.resize(width, ' ');
        double const left = done ? seconds_gone * (total_ - done) / done : 0;
        std::fprintf(stderr, "\r\033[K%s [%s] %d/%d  %.0f s left  %s", what_.c_str(), bar.c_str(), done, total_, left,
                     label.substr(0, 40).c_str());
        std::fflush(stderr);
        shown_ = true;
    }
    void clear() {
        if (shown_) std::fputs("\r\033[K", stderr), std::fflush(stderr);
        shown_ = false;
    }

private:
    std::string what_;
    int total_;
    bool terminal_, shown_ = false;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

} // namespace deltaloom::codegen::tool
