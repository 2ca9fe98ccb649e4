#include "codegen/emit/emit_cpp.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace deltaloom::codegen {

bool mentions(std::string const& text, std::string const& word) {
    auto const inside = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
        auto const end = at + word.size();
        bool const member = at > 0 && text[at - 1] == '.';
        if (!member && (at == 0 || !inside(text[at - 1])) && (end == text.size() || !inside(text[end]))) return true;
    }
    return false;
}

std::string definitions(Kernel const& k, std::vector<Statement> const& all, std::string const& text) {
    std::string counts;
    for (auto s = all.rbegin(); s != all.rend(); ++s)
        if (s->kind == Statement::Kind::define && mentions(counts + text, s->name))
            counts = fmt::format("index const {} = {};\n{}", s->name, s->integer, counts);
    std::vector<std::string> dims;
    for (std::size_t d = 0; d < k.dims.size(); ++d)
        if (mentions(counts + text, k.dims[d])) dims.push_back(fmt::format("{} = s.dim[{}]", k.dims[d], d));
    return dims.empty() ? counts : fmt::format("index const {};\n{}", fmt::join(dims, ", "), counts);
}

static void callees(std::vector<Statement> const& body, std::vector<std::string>& names) {
    for (auto const& s : body) {
        bool const takes =
            s.kind == Statement::Kind::call && !s.arguments.empty() && s.arguments.back().integer == "room";
        if (takes && std::find(names.begin(), names.end(), s.name) == names.end()) names.push_back(s.name);
        callees(s.body, names);
    }
}

std::string scratch_text(Kernel const& k, Function const& f) {
    std::vector<std::pair<std::string, int>> taken;
    for (auto const& s : f.body) {
        if (s.kind != Statement::Kind::take) continue;
        auto const size = fmt::format("scratch_size<K>({}, {})", f.buffers[s.buffer].rows, f.buffers[s.buffer].cols);
        auto const at = std::find_if(taken.begin(), taken.end(), [&](auto const& t) { return t.first == size; });
        if (at == taken.end())
            taken.emplace_back(size, 1);
        else
            ++at->second;
    }
    std::vector<std::string> parts;
    for (auto const& [size, count] : taken) parts.push_back(count == 1 ? size : fmt::format("{} * {}", count, size));
    std::vector<std::string> called;
    callees(f.body, called);
    std::string most;
    for (auto const& c : called) {
        auto const its = c + "_scratch<K>(s)";
        most = most.empty() ? its : fmt::format("larger({}, {})", most, its);
    }
    if (!most.empty()) parts.push_back(most);
    std::string const sum = parts.empty() ? "0" : fmt::format("{}", fmt::join(parts, " + "));
    auto counts = f.body;
    Statement n; // the longest chunk
    n.kind = Statement::Kind::define;
    n.name = "n";
    n.integer = "smaller(s.chunk, s.tokens)";
    if (!f.integers.empty()) counts.insert(counts.begin(), n);
    auto const text = definitions(k, counts, sum) + "return " + sum + ";\n";
    bool const uses = mentions(text, "s");
    return fmt::format("template<class K> index {}_scratch(sequence const&{}) {{\n{}}}\n", f.name, uses ? " s" : "",
                       text);
}

} // namespace deltaloom::codegen
