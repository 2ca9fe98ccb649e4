#include "codegen/rule/words.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace deltaloom::codegen {

static constexpr std::array<std::string_view, 92> keywords{
    "alignas",     "alignof",   "and",        "and_eq",    "asm",      "auto",         "bitand",
    "bitor",       "bool",      "break",      "case",      "catch",    "char",         "char8_t",
    "char16_t",    "char32_t",  "class",      "compl",     "concept",  "const",        "consteval",
    "constexpr",   "constinit", "const_cast", "continue",  "co_await", "co_return",    "co_yield",
    "decltype",    "default",   "delete",     "do",        "double",   "dynamic_cast", "else",
    "enum",        "explicit",  "export",     "extern",    "false",    "float",        "for",
    "friend",      "goto",      "if",         "inline",    "int",      "long",         "mutable",
    "namespace",   "new",       "noexcept",   "not",       "not_eq",   "nullptr",      "operator",
    "or",          "or_eq",     "private",    "protected", "public",   "register",     "reinterpret_cast",
    "requires",    "return",    "short",      "signed",    "sizeof",   "static",       "static_assert",
    "static_cast", "struct",    "switch",     "template",  "this",     "thread_local", "throw",
    "true",        "try",       "typedef",    "typeid",    "typename", "union",        "unsigned",
    "using",       "virtual",   "void",       "volatile",  "wchar_t",  "while",        "xor",
    "xor_eq"};

static constexpr std::array<std::string_view, 42> language_words{"S",        "z",       "q",
                                                                 "k",        "v",       "o",
                                                                 "alpha",    "beta",    "g",
                                                                 "dk",       "dv",      "T",
                                                                 "diag",     "dot",     "exp",
                                                                 "log",      "abs",     "max",
                                                                 "min",      "neg",     "sqrt",
                                                                 "tanh",     "sigmoid", "softplus",
                                                                 "relu",     "elu1",    "silu",
                                                                 "norm",     "sum",     "l2norm",
                                                                 "sum_norm", "softmax", "repeat",
                                                                 "dpfp",     "taylor2", "rule",
                                                                 "previous", "dsl",     "random_features",
                                                                 "dpfp_dim", "ast",     "taylor2_dim"};

bool language_word(std::string const& word) {
    return std::find(language_words.begin(), language_words.end(), word) != language_words.end();
}

std::string taken_name(std::string const& name) {
    if (name == "library" || name.starts_with("kernels_"))
        return "is that of a source of every library, src/" + name + ".cpp";
    if (name == "std" || name == "deltaloom" || name.starts_with("dl_"))
        return "is a name that the headers of every library use"; // the typed header's namespace would hide them
    return "";
}

bool keyword(std::string const& word) { return std::find(keywords.begin(), keywords.end(), word) != keywords.end(); }

} // namespace deltaloom::codegen
