#pragma once
// A folder that is gone after the test.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace deltaloom::test {

struct ScratchFolder {
    std::filesystem::path path;

    ScratchFolder() {
        auto pattern = (std::filesystem::temp_directory_path() / "deltaloom_XXXXXX").string();
        if (!mkdtemp(pattern.data())) throw std::runtime_error("no temporary folder");
        path = pattern;
    }
    ~ScratchFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
    ScratchFolder(ScratchFolder const&) = delete;
    ScratchFolder& operator=(ScratchFolder const&) = delete;

    // Folders in front of the name are made. Returns the whole path.
    std::string write(std::filesystem::path const& name, std::string const& text) const {
        std::filesystem::create_directories((path / name).parent_path());
        std::ofstream(path / name, std::ios::binary) << text;
        return (path / name).string();
    }
};

inline std::string text_of(std::filesystem::path const& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

} // namespace deltaloom::test
