#pragma once
// Text against a file of tests/golden. With DELTALOOM_UPDATE_GOLDEN in the environment the file is written instead
// (CMake target update_golden).
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace deltaloom::test {

struct Golden {
    bool same = true;
    std::string difference; // the first line that differs
};
inline Golden golden(std::filesystem::path const& file, std::string const& text) {
    if (std::getenv("DELTALOOM_UPDATE_GOLDEN")) {
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file, std::ios::binary) << text;
        return {};
    }
    std::ifstream in(file, std::ios::binary);
    if (!in) return {false, file.string() + " is not there: build the target update_golden"};
    std::stringstream whole;
    whole << in.rdbuf();
    if (whole.str() == text) return {};
    std::stringstream got(text);
    std::string a, b;
    for (int line = 1;; ++line) {
        whole.clear(), got.clear();
        bool const more = bool(std::getline(whole, a)), mine = bool(std::getline(got, b));
        if (more && mine && a == b) continue;
        return {false, file.filename().string() + ":" + std::to_string(line) + ": expected \"" + (more ? a : "(end)") +
                           "\", got \"" + (mine ? b : "(end)") + "\""};
    }
}

} // namespace deltaloom::test
