#include "codegen/kernel/names.hpp"

#include "codegen/rule/words.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace deltaloom::codegen {

static constexpr std::string_view runtime_words[] = {"addlog",
                                                     "apply",
                                                     "applyt",
                                                     "aslog",
                                                     "clear",
                                                     "copy",
                                                     "csolve",
                                                     "csolve_transposed",
                                                     "decay",
                                                     "domain",
                                                     "dpfp",
                                                     "dpfp_vjp",
                                                     "event_rows",
                                                     "events",
                                                     "field",
                                                     "fill",
                                                     "gram",
                                                     "index",
                                                     "int_list",
                                                     "interleave",
                                                     "is_larger",
                                                     "l2norm",
                                                     "l2norm_vjp",
                                                     "larger",
                                                     "load",
                                                     "load_all",
                                                     "load_state",
                                                     "load_token",
                                                     "log_one",
                                                     "matrix",
                                                     "multiply",
                                                     "multiply_add",
                                                     "multiply_nt",
                                                     "multiply_nt_add",
                                                     "multiply_tn",
                                                     "multiply_tn_add",
                                                     "number",
                                                     "pick",
                                                     "rational",
                                                     "scratch",
                                                     "scratch_size",
                                                     "sequence",
                                                     "smaller",
                                                     "softmax",
                                                     "softmax_vjp",
                                                     "solve",
                                                     "solve_transposed",
                                                     "span",
                                                     "spread",
                                                     "store",
                                                     "store_all",
                                                     "store_state",
                                                     "store_token",
                                                     "strided",
                                                     "sum_cols",
                                                     "sum_norm",
                                                     "sum_norm_vjp",
                                                     "sum_rows",
                                                     "taylor2",
                                                     "taylor2_vjp",
                                                     "transpose",
                                                     "unlog"};
static constexpr std::string_view variables[] = {"K",    "begin", "c",       "chunk",    "chunks", "e",
                                                 "end",  "first", "i",       "j",        "last",   "n",
                                                 "room", "s",     "segment", "segments", "token"};

template<std::size_t count> static bool in(std::string_view const (&words)[count], std::string const& word) {
    return std::find(std::begin(words), std::end(words), word) != std::end(words);
}
bool of_runtime(std::string const& word) { return in(runtime_words, word); }
bool reserved(std::string const& word) {
    return keyword(word) || in(runtime_words, word) || in(variables, word) || word.rfind("map_", 0) == 0 ||
           word.rfind("derivative_", 0) == 0;
}

std::string Names::fresh(std::string const& wish) {
    std::string name;
    auto const put = [&](char c) {
        if (c != '_' || name.empty() || name.back() != '_') name += c; // two underscores belong to the compiler
    };
    for (char c : wish) {
        bool const digit = c >= '0' && c <= '9';
        bool const letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (name.empty() && !letter) put('x');
        put(digit || letter ? c : '_');
    }
    if (name.empty()) name = "x";
    if (reserved(name)) name += name.back() == '_' ? "v" : "_";
    auto const base = name;
    for (int k = 2; !taken.insert(name).second; ++k) name = base + (base.back() == '_' ? "" : "_") + std::to_string(k);
    return name;
}

} // namespace deltaloom::codegen
