#include "codegen/check/text_folder.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace deltaloom::codegen {
namespace fs = std::filesystem;

Sources read_text(fs::path const& folder) {
    std::error_code error;
    if (!fs::is_directory(folder, error))
        throw std::runtime_error(fmt::format("there is no folder {}: --text takes one that `deltaloom emit --out` "
                                             "wrote",
                                             folder.string()));
    Sources sources;
    sources.edited = true;
    for (auto entry = fs::recursive_directory_iterator(folder, error); !error && entry != fs::end(entry);
         entry.increment(error)) {
        if (!entry->is_regular_file()) continue;
        std::ifstream file(entry->path(), std::ios::binary);
        EmittedFile read{entry->path().lexically_relative(folder).generic_string(),
                         std::string(std::istreambuf_iterator<char>(file), {})};
        if (!file.good() && !file.eof())
            throw std::runtime_error(fmt::format("cannot read {}", entry->path().string()));
        sources.files.push_back(std::move(read));
    }
    if (error) throw std::runtime_error(fmt::format("cannot read {}: {}", folder.string(), error.message()));
    std::sort(sources.files.begin(), sources.files.end(), [](auto const& a, auto const& b) { return a.path < b.path; });
    std::vector<std::string> libraries;
    for (auto const& file : sources.files) {
        fs::path const path = file.path;
        if (path.filename() == "library-calls.h" && path.parent_path().parent_path() == "include")
            libraries.push_back(path.parent_path().filename().string());
    }
    if (libraries.size() != 1)
        throw std::runtime_error(fmt::format(
            "{} is no folder that `deltaloom emit --out` wrote: it has {} include/LIBRARY/library-calls.h, not one",
            folder.string(), libraries.size()));
    sources.library = libraries[0];
    return sources;
}

std::string text_path(std::string const& rule, Form form, Direction direction) {
    return fmt::format("src/{}_{}_{}.hpp", rule, form == Form::parallel ? "chunked" : name(form), name(direction));
}

TextThere text_there(Sources const& sources, std::string const& rule, Form form, Direction direction) {
    auto const find = [&](std::string const& path) {
        auto const at =
            std::find_if(sources.files.begin(), sources.files.end(), [&](auto const& f) { return f.path == path; });
        return at == sources.files.end() ? nullptr : &*at;
    };
    auto const path = text_path(rule, form, direction);
    if (find(path)) return TextThere::yes;
    auto const* source = find(fmt::format("src/{}.cpp", rule));
    bool const wanted = !source || source->text.find(path.substr(4)) != std::string::npos;
    return wanted ? TextThere::lost : TextThere::not_emitted;
}

} // namespace deltaloom::codegen
