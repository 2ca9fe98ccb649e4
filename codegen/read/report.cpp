#include "codegen/read/report.hpp"

#include <fstream>

namespace deltaloom::codegen {

namespace {

constexpr char const* bold = "\033[1m";
constexpr char const* green = "\033[1;32m";
constexpr char const* plain = "\033[0m";

std::string_view word(Severity severity) {
    switch (severity) {
    case Severity::error: return "error: ";
    case Severity::warning: return "warning: ";
    case Severity::note: return "note: ";
    }
    return "";
}

char const* colour_of(Severity severity) {
    switch (severity) {
    case Severity::error: return "\033[1;31m";
    case Severity::warning: return "\033[1;35m";
    case Severity::note: return "\033[1;36m";
    }
    return plain;
}

struct Line {
    bool found = false;
    std::string text;
};

Line line_of(Location const& where) {
    std::ifstream file(where.file);
    Line line;
    for (unsigned i = 0; i < where.line; ++i)
        if (!std::getline(file, line.text)) return {};
    if (!line.text.empty() && line.text.back() == '\r') line.text.pop_back();
    line.found = true;
    return line;
}

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0u) == 0x80u; } // UTF-8

// As wide as the text in front of the place: a tab stays a tab, a character of several bytes is one column.
std::string indent(std::string const& text, std::size_t bytes) {
    std::string space;
    for (std::size_t i = 0; i < bytes; ++i)
        if (i >= text.size() || !continues_character(text[i])) space += i < text.size() && text[i] == '\t' ? '\t' : ' ';
    return space;
}

std::string caret(std::string const& text, Location const& where) {
    std::string marks = "^";
    for (std::size_t i = where.column; i < where.column - 1 + where.length && i < text.size(); ++i)
        if (!continues_character(text[i])) marks += '~';
    return marks;
}

} // namespace

std::string render(Diagnostic const& diagnostic, bool colour) {
    auto const paint = [&](char const* code) { return colour ? code : ""; };
    auto const& where = diagnostic.where;
    std::string text;
    if (where.known()) {
        text += paint(bold);
        text += where.file + ":" + std::to_string(where.line) + ":" + std::to_string(where.column) + ": ";
        text += paint(plain);
    }
    text += paint(colour_of(diagnostic.severity));
    text += word(diagnostic.severity);
    text += paint(plain);
    if (diagnostic.severity != Severity::note) text += paint(bold);
    text += diagnostic.text;
    if (diagnostic.severity != Severity::note) text += paint(plain);
    text += '\n';
    if (auto const line = where.known() ? line_of(where) : Line{}; line.found) {
        auto const number = std::to_string(where.line);
        auto const gutter = number.size() < 5 ? 5 - number.size() : 0;
        text += std::string(gutter, ' ') + number + " | " + line.text + '\n';
        text += std::string(gutter + number.size(), ' ') + " | " + indent(line.text, where.column - 1);
        text += paint(green) + caret(line.text, where) + paint(plain) + '\n';
    }
    for (auto const& note : diagnostic.notes) text += render(note, colour);
    return text;
}

} // namespace deltaloom::codegen
