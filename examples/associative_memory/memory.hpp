#pragma once
// A matrix memory as a person thinks of it: pairs go in, keys are asked. Over the C ABI, for whichever rule of the
// library.
#include <algorithm>
#include <deltaloom/runtime/abi/call.hpp>
#include <memory/delta.h>
#include <string>
#include <vector>

struct Pairs { // tokens of one sequence; row-major T x dk, T x dv; strengths and gates one per token
    int dk, dv;
    std::vector<double> keys, values, queries, beta, alpha;
    int tokens() const { return int(keys.size()) / dk; }
};
struct Answer {
    std::vector<double> state;   // dv x dk, after the last token
    std::vector<double> outputs; // T x dv: what each token's query reads, after its write
};

// One sequence, or `heads` independent ones side by side (then every vector holds [token][head][entry]). `state`: the
// initial one, or empty: zeros. K: what the kernels compute in.
template<class K = double>
Answer run(std::string const& rule_name, Pairs const& p, std::vector<double> const& state = {},
           dl_form form = DL_CHOOSE, unsigned chunk = 0, int heads = 1, int threads = 1) {
    dl_rule const* rule = memory_rule_named(rule_name.c_str());
    if (!rule) throw std::runtime_error("this library has no rule " + rule_name);
    int const tokens = p.tokens() / heads;
    std::vector<K> const initial(state.begin(), state.end());
    std::vector<K> final(std::size_t(heads * p.dv * p.dk)), outputs(std::size_t(tokens * heads * p.dv));
    std::vector<std::vector<K>> given(rule->operand_count);
    std::vector<dl_tensor> operand(rule->operand_count);
    for (std::uint32_t i = 0; i < rule->operand_count; ++i) {
        std::string const name = rule->operands[i].name;
        auto const vector = [&](std::vector<double> const& v, int d) {
            given[i].assign(v.begin(), v.end());
            return deltaloom::tensor(given[i].data(), tokens, heads, {d});
        };
        auto const scalar = [&](std::vector<double> const& v) {
            given[i].assign(v.begin(), v.end());
            return deltaloom::tensor(given[i].data(), tokens, heads);
        };
        if (name == "k") operand[i] = vector(p.keys, p.dk);
        if (name == "v") operand[i] = vector(p.values, p.dv);
        if (name == "q") operand[i] = vector(p.queries, p.dk);
        if (name == "beta") operand[i] = scalar(p.beta);
        if (name == "alpha") operand[i] = scalar(p.alpha);
        if (name == "o") operand[i] = deltaloom::tensor(outputs.data(), tokens, heads, {p.dv});
    }
    dl_tensor before = deltaloom::state(initial.data(), heads, {p.dv, p.dk}),
              after = deltaloom::state(final.data(), heads, {p.dv, p.dk});
    if (state.empty()) before.data = nullptr;
    dl_call call{};
    call.struct_size = sizeof call, call.abi_version = DL_ABI_VERSION;
    call.form = form, call.chunk = chunk, call.threads = threads;
    call.batch = 1, call.tokens = tokens, call.value_heads = heads;
    for (std::uint32_t d = 0; d < rule->dim_count; ++d) call.dim[d] = std::string(rule->dims[d]) == "dk" ? p.dk : p.dv;
    call.operand = operand.data(), call.state_in = &before, call.state_out = &after;
    deltaloom::abi::run(rule, call, memory_workspace, memory_forward);
    return {{final.begin(), final.end()}, {outputs.begin(), outputs.end()}};
}
