#include "codegen/emit/project.hpp"

#include "codegen/emit/fields.hpp"
#include "codegen/rule/dimension.hpp"
#include "codegen/rule/words.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace deltaloom::codegen {
namespace {

bool starts_a_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool in_a_word(char c) { return starts_a_word(c) || std::isdigit(static_cast<unsigned char>(c)); }
bool identifier(std::string const& s) {
    return !s.empty() && starts_a_word(s[0]) && std::all_of(s.begin(), s.end(), in_a_word);
}

// Broken between words, with a hanging indent, at 100 columns.
std::string wrapped(std::string const& text, std::size_t indent) {
    std::string out;
    std::size_t column = indent;
    for (std::size_t at = 0; at < text.size();) {
        auto const end = std::min(text.find(' ', at), text.size());
        if (column > indent && column + end - at > 99) {
            out += "\n" + std::string(indent + 4, ' ');
            column = indent + 4;
        } else if (!out.empty()) {
            out += ' ', ++column;
        }
        out += text.substr(at, end - at);
        column += end - at;
        at = end + 1;
    }
    return out;
}

// ---- rules.hpp --------------------------------------------------------------------------------------------------

bool predefined(DeclaredOperand const& o) { return o.tag.starts_with("::deltaloom::dsl::"); }

// Dimensions to declare, by name; dpfp_dim<2, dk> is made of one.
std::vector<std::string> own_dimensions(Declaration const& rule) {
    std::vector<std::string> names;
    for (auto const& o : rule.operands)
        for (auto const& dim : o.dims)
            for (std::size_t i = 0; i < dim.size(); ++i) {
                if (!starts_a_word(dim[i])) continue;
                auto end = i;
                while (end < dim.size() && in_a_word(dim[end])) ++end;
                auto const word = dim.substr(i, end - i);
                bool const made = end < dim.size() && dim[end] == '<';
                if (!made && !language_word(word) && std::find(names.begin(), names.end(), word) == names.end())
                    names.push_back(word);
                i = end;
            }
    return names;
}

std::string macro(DeclaredOperand const& o) {
    std::string text, words;
    switch (o.role) {
    case Role::state: text = "STATE", words = "a memory"; break;
    case Role::input: text = "INPUT", words = "an input of every token"; break;
    case Role::gate: text = "GATE", words = "a gate of every token"; break;
    case Role::parameter: text = "PARAMETER", words = "a parameter of a head"; break;
    case Role::output: text = "OUTPUT", words = "an output"; break;
    }
    text = "DELTALOOM_" + text + "(" + o.name;
    switch (o.domain) {
    case Domain::real: break;
    case Domain::linear: text += ", linear", words += ", any finite number"; break;
    case Domain::log: text += ", log", words += ", in [-inf, 0], used as exp(" + o.name + ")"; break;
    }
    for (auto const& dim : o.dims) text += ", " + dim;
    return fmt::format("{:<35} // {}\n", text + ");", words);
}

std::string rules_header(std::string const& name, Declaration const& like) {
    std::string operands, lines;
    for (auto const& dim : own_dimensions(like)) operands += "DELTALOOM_DIM(" + dim + ");\n";
    for (auto const& o : like.operands)
        if (!predefined(o)) operands += macro(o);
    for (auto const& s : statements(equation(like))) lines += ",\n    " + wrapped(s, 4);
    return fmt::format(R"(#pragma once
// {0}: a rule of your own. Change the lines of rule(...) below; kernels, gradients and checks follow.
#include <deltaloom/dsl.hpp>

namespace {0}_rules {{ // yours: call it what you like
using namespace deltaloom::dsl; // S z  q k v  o  alpha beta g  dk dv, and the functions

// What a token brings or a head has beside those: a name, for gates a domain, then dimensions (none: a number).
//     DELTALOOM_INPUT(e, dk)    DELTALOOM_GATE(w, log, dk)    DELTALOOM_PARAMETER(u, dk)    DELTALOOM_STATE(M, dv, dk)
{1}
// Statements in order, once per token; S is dv x dk. On the right a state is what it was before the statement.
inline constexpr auto {0} = rule("{0}"{2});

}} // namespace {0}_rules
)",
                       name, operands, lines);
}

// ---- CMakeLists.txt ---------------------------------------------------------------------------------------------

std::string cmake(std::string const& name) {
    return fmt::format(R"(cmake_minimum_required(VERSION 3.25)
project({} C CXX)
enable_testing()
find_package(Deltaloom REQUIRED)
deltaloom_add_rules(memory SOURCES rules.hpp CHECK)   # a library of kernels; ctest proves them
add_executable(app main.cpp)
target_link_libraries(app PRIVATE memory)
)",
                       name);
}

// ---- main.cpp ---------------------------------------------------------------------------------------------------

struct MainProgram {
    std::string const& name;
    TypedRule const& rule;
    Fields of = fields(rule);
    std::set<std::string> taken{"call", "tokens", "numbers", "t", "i", "main", "std", "memory", "deltaloom"};
    std::vector<std::string> dims{};

    std::string fresh(std::string wish) {
        while (!taken.insert(wish).second) wish += '_';
        return wish;
    }
    // Has a tensor of the program this axis, or one that is made of it? States begin as zeros and have no tensors here.
    bool needed(DimId d, std::vector<std::pair<DimId, MappedDim>> const& mapped) const {
        for (std::size_t e = 0; e < mapped.size(); ++e)
            if (mapped[e].first == d && needed(DimId(e), mapped)) return true;
        return std::any_of(rule.operands.begin(), rule.operands.end(), [&](Operand const& o) {
            return o.role != Role::state && (o.shape.rows == d || o.shape.cols == d);
        });
    }
    std::vector<std::string> axes(Operand const& o) const {
        std::vector<std::string> all;
        if (o.steps) all.push_back(std::to_string(o.steps));
        for (DimId const d : {o.shape.rows, o.shape.cols})
            if (d != one) all.push_back(dims[std::size_t(d)]);
        return all;
    }

    std::string text() {
        std::string extents, set_extents, data, set, print;
        int next = 2;
        auto const mapped = mapped_dims(rule.dims);
        for (std::size_t d = 0; d < rule.dims.size(); ++d) {
            dims.push_back(fresh(dim_identifier(rule.dims[d])));
            auto const& [from, made] = mapped[d];
            if (from < 0) {
                extents += fmt::format(", {} = {}", dims[d], next++);
                set_extents += fmt::format(", call.{} = {}", of.dims[d], dims[d]);
            } else if (needed(DimId(d), mapped)) {
                extents += fmt::format(", {} = {}", dims[d], extent_text(made, dims[std::size_t(from)]));
            }
        }
        for (std::size_t i = 0; i < rule.operands.size(); ++i) {
            auto const& o = rule.operands[i];
            if (o.role == Role::state) continue;
            bool const parameter = o.role == Role::parameter;
            auto const local = fresh(o.name);
            auto const all = axes(o);
            auto count = all;
            if (!parameter) count.insert(count.begin(), "tokens");
            auto const size = count.empty() ? "1" : fmt::format("{}", fmt::join(count, " * "));
            char const* const range = o.domain == Domain::log      ? "-1, 0"
                                      : o.domain == Domain::linear ? "0.5, 1"
                                      : all.empty()                ? "0, 1"
                                                                   : "-1, 1";
            data += o.role == Role::output ? fmt::format("    std::vector<float> {}({});\n", local, size)
                                           : fmt::format("    auto {} = numbers({}, {});\n", local, size, range);
            set += fmt::format("    call.{} = deltaloom::{}({}.data(), {}1{});\n", of.operands[i].value,
                               parameter ? "parameter" : "tensor", local, parameter ? "" : "tokens, ",
                               all.empty() ? "" : fmt::format(", {{{}}}", fmt::join(all, ", ")));
            if (o.role != Role::output) continue;
            auto const row = all.empty() ? "1" : fmt::format("{}", fmt::join(all, " * "));
            print += fmt::format(R"(    for (int t = 0; t < tokens; ++t) {{
        std::printf("token %d: {1} =", t);
        for (int i = 0; i < {2}; ++i) std::printf(" %.4f", {0}[t * {2} + i]);
        std::printf("\n");
    }}
)",
                                 local, o.name, row);
        }
        return fmt::format(
            R"(// A few tokens through {0}. In a model the pointers are your tensors', with any strides; see <memory/{0}.hpp>.
#include <cmath>
#include <cstdio>
#include <memory/{0}.hpp>
#include <vector>

// Some numbers between low and high.
static std::vector<float> numbers(int count, float low, float high) {{
    static int drawn = 0;
    std::vector<float> all;
    while (int(all.size()) < count) all.push_back(low + (high - low) * (0.5f + 0.5f * std::sin(12.9f * float(++drawn))));
    return all;
}}

int main() {{
    constexpr int tokens = 4{1};
{3}
    memory::{0}::arguments call{{}};
    call.tokens = tokens{2};
{4}    memory::{0}::forward(call); // the state begins as zeros; backward, step: in the same header
{5}}}
)",
            name, extents, set_extents, data, set, print);
    }
};

} // namespace

std::string name_refused(std::string const& name, TypedRule const& like) {
    if (!identifier(name)) return "is no C identifier: letters, digits and _, not a digit first";
    if (keyword(name)) return "is a keyword of C++: choose another name";
    if (language_word(name)) return "is a word of the language of rules: choose another name";
    if (auto const why = taken_name(name); !why.empty()) return why + ": choose another name";
    for (auto const& o : like.operands)
        if (o.name == name) return "is an operand of " + like.name + ": choose another name";
    for (auto const& dim : like.dims)
        if (dim == name) return "is a dimension of " + like.name + ": choose another name";
    return "";
}

std::vector<EmittedFile> project(std::string const& name, Declaration const& like, TypedRule const& rule) {
    return {{"rules.hpp", rules_header(name, like)},
            {"CMakeLists.txt", cmake(name)},
            {"main.cpp", MainProgram{name, rule}.text()}};
}

} // namespace deltaloom::codegen
