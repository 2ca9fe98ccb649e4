#include "codegen/check/random.hpp"

#include <algorithm>
#include <cctype>

namespace deltaloom::codegen {
namespace {

// What a rule may use beside the predefined S z q k v o beta alpha g. Names that end in r stand inside repeat only.
struct Declared {
    char const *name, *text;
};
constexpr Declared declarations[] = {
    {"M", "DELTALOOM_STATE(M, dv, dk);"},
    {"n", "DELTALOOM_STATE(n, dk);"},
    {"m", "DELTALOOM_STATE(m, dk);"},
    {"mv", "DELTALOOM_STATE(mv, dv);"},
    {"P", "DELTALOOM_STATE(P, dk, dk);"},
    {"e", "DELTALOOM_INPUT(e, dk);"},
    {"f", "DELTALOOM_INPUT(f, dk);"},
    {"x", "DELTALOOM_INPUT(x, dv);"},
    {"y", "DELTALOOM_INPUT(y, dv);"},
    {"p", "DELTALOOM_INPUT(p, dv);"},
    {"eta", "DELTALOOM_INPUT(eta);"},
    {"rho", "DELTALOOM_INPUT(rho);"},
    {"A", "DELTALOOM_INPUT(A, dk, dk);"},
    {"B", "DELTALOOM_INPUT(B, dv, dk);"},
    {"h", "DELTALOOM_GATE(h, log);"},
    {"r", "DELTALOOM_GATE(r, linear);"},
    {"w", "DELTALOOM_GATE(w, log, dk);"},
    {"a", "DELTALOOM_GATE(a, linear, dk);"},
    {"wv", "DELTALOOM_GATE(wv, log, dv);"},
    {"av", "DELTALOOM_GATE(av, linear, dv);"},
    {"c", "DELTALOOM_PARAMETER(c);"},
    {"u", "DELTALOOM_PARAMETER(u, dk);"},
    {"lam", "DELTALOOM_PARAMETER(lam, log);"},
    {"kr", "DELTALOOM_INPUT(kr, dk);"},
    {"er", "DELTALOOM_INPUT(er, dk);"},
    {"vr", "DELTALOOM_INPUT(vr, dv);"},
    {"xr", "DELTALOOM_INPUT(xr, dv);"},
    {"br", "DELTALOOM_INPUT(br);"},
    {"gr", "DELTALOOM_GATE(gr, log);"},
    {"ar", "DELTALOOM_GATE(ar, linear);"},
    {"wr", "DELTALOOM_GATE(wr, log, dk);"},
    {"wvr", "DELTALOOM_GATE(wvr, log, dv);"},
    {"o2", "DELTALOOM_OUTPUT(o2, dv);"},
    {"o3", "DELTALOOM_OUTPUT(o3, dv);"},
    {"ok", "DELTALOOM_OUTPUT(ok, dk);"},
    {"ok2", "DELTALOOM_OUTPUT(ok2, dk);"},
    {"om", "DELTALOOM_OUTPUT(om, dk);"},
    {"omv", "DELTALOOM_OUTPUT(omv, dv);"},
    {"of", "DELTALOOM_OUTPUT(of, dv);"},
    {"Sd", "DELTALOOM_STATE(Sd, dv, dpfp_dim<2, dk>);"},
    {"W", "DELTALOOM_DIM(dr);\nDELTALOOM_PARAMETER(W, dr, dk);"},
    {"Sr", "DELTALOOM_STATE(Sr, dv, dr);"},
    {"St", "DELTALOOM_STATE(St, dv, taylor2_dim<dk>);"},
};

std::set<std::string> identifiers(std::string const& text) {
    std::set<std::string> found;
    auto part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    for (std::size_t i = 0; i < text.size();) {
        std::size_t end = i;
        while (end < text.size() && part(text[end])) ++end;
        if (end > i) found.insert(text.substr(i, end - i));
        i = std::max(end, i + 1);
    }
    return found;
}

} // namespace

std::string random_rules(std::uint64_t seed, int count, bool chunkable) {
    std::string rules;
    std::set<std::string> used;
    for (int i = 0; i < count; ++i) {
        RandomRule const rule = random_rule(seed, i, chunkable);
        std::string const name = "random_" + std::to_string(i);
        rules += "\n//";
        for (auto const& tag : rule.tags) rules += (tag == *rule.tags.begin() ? " " : ", ") + tag;
        rules += "\ninline constexpr auto " + name + " = rule(\"" + name + "\",\n    ";
        for (auto const& statement : rule.statements) {
            used.merge(identifiers(statement));
            rules += statement + (&statement == &rule.statements.back() ? ");\n" : ",\n    ");
        }
    }
    std::string text =
        "#pragma once\n// deltaloom random --seed " + std::to_string(seed) + " --count " + std::to_string(count) +
        (chunkable ? " --chunkable" : "") +
        "\n#include <deltaloom/dsl.hpp>\n\nnamespace random_rules {\nusing namespace deltaloom::dsl;\n\n";
    for (auto const& d : declarations)
        if (used.count(d.name)) text += std::string(d.text) + "\n";
    return text + rules + "\n}\n";
}

} // namespace deltaloom::codegen
