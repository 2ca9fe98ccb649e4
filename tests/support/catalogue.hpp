#pragma once
// Rules that must be chunked, rules that must be refused a chunked form and still run step by step: name, text and
// operands for parse_rule.
#include <string>
#include <vector>

namespace deltaloom::test {

struct CatalogueRule {
    std::string name, text, operands;
    std::string reason = {}; // part of the reason why there is no chunked form; empty: there is one
};

inline std::vector<CatalogueRule> const& catalogue() {
    static std::vector<CatalogueRule> const rules{
        {"sum", "S <<= S + v * T(k), o <<= S * q", ""},
        {"sum_normalised", "S <<= S + v * T(k), z <<= z + k, o <<= (S * q) / dot(z, q)", ""},
        {"gated", "S <<= (1 - beta) * S + beta * v * T(k), o <<= S * q", ""},
        {"retention", "S <<= exp(log_a) * S + v * T(k), o <<= S * q", "PARAMETER(log_a, log)"},
        {"mamba2", "S <<= exp(-exp(A_log) * softplus(dt + bias)) * S + softplus(dt + bias) * v * T(k), o <<= S * q",
         "PARAMETER(A_log); PARAMETER(bias); INPUT(dt)"},
        {"gla", "S <<= S * diag(exp(gk)) + v * T(k), o <<= S * q", "GATE(gk, log, dk)"},
        {"gla_value_gate", "S <<= diag(exp(gv)) * S + v * T(k), o <<= S * q", "GATE(gv, log, dv)"},
        {"gla_both_gates", "S <<= diag(exp(gv)) * S * diag(exp(gk)) + v * T(k), o <<= S * q",
         "GATE(gk, log, dk); GATE(gv, log, dv)"},
        {"hgrn2", "S <<= S * diag(exp(gk)) + v * T(1 - exp(gk)), o <<= S * q", "GATE(gk, log, dk)"},
        {"rwkv6", "o <<= S * q + dot(u % k, q) * v, S <<= S * diag(w) + v * T(k)",
         "PARAMETER(u, dk); GATE(w, linear, dk)"},
        {"delta", "S <<= S + beta * (v - S * k) * T(k), o <<= S * q", ""},
        {"delta_l2norm", "S <<= S + sigmoid(beta) * (v - S * l2norm(k)) * T(l2norm(k)), o <<= S * l2norm(q)", ""},
        {"gated_delta", "S <<= alpha * (S - beta * (S * k) * T(k)) + beta * v * T(k), o <<= S * q", ""},
        {"gated_delta_log", "S <<= exp(g) * (S - beta * (S * k) * T(k)) + beta * v * T(k), o <<= S * q", ""},
        {"kda", "S <<= S * diag(exp(gk)), S <<= S + beta * (v - S * k) * T(k), o <<= S * q", "GATE(gk, log, dk)"},
        {"gated_delta2", "S <<= S * diag(exp(gk)), S <<= S + (wv % v - S * (e % k)) * T(k), o <<= S * q",
         "GATE(gk, log, dk); INPUT(wv, dv); INPUT(e, dk)"},
        {"comba", "S <<= exp(g) * S + beta * (v - S * p) * T(k), o <<= S * (q - d * k)", "INPUT(p, dk); PARAMETER(d)"},
        {"iplr", "S <<= S + (S * a) * T(b) + v * T(k), o <<= S * q", "INPUT(a, dk); INPUT(b, dk)"},
        {"dplr", "S <<= S * diag(exp(gk)) + (S * a) * T(b) + v * T(k), o <<= S * q",
         "GATE(gk, log, dk); INPUT(a, dk); INPUT(b, dk)"},
        {"rwkv7", "S <<= S * diag(w) + (S * (-kappa)) * T(kappa % e) + v * T(k), o <<= S * q",
         "GATE(w, linear, dk); INPUT(kappa, dk); INPUT(e, dk)"},
        {"delta_product2", "S <<= alpha * S, repeat<2>(S <<= S + beta * (v - S * k) * T(k)), o <<= S * q", ""},
        {"gated_oja", "S <<= diag(exp(gv)) * S, S <<= S + beta * v * T(k - T(S) * v), o <<= S * q",
         "GATE(gv, log, dv)"},
        {"rank2", "S <<= S * diag(w) + (S * a) * T(b) + (S * a2) * T(b2) + v * T(k), o <<= S * q",
         "GATE(w, linear, dk); INPUT(a, dk); INPUT(b, dk); INPUT(a2, dk); INPUT(b2, dk)"},
        {"two_log_gates", "S <<= exp(g + h) * S - beta * (S * k) * T(k) + v * T(k), o <<= S * q", "GATE(h, log)"},
        {"triple_log_gate", "S <<= exp(3 * g + h) * S + v * T(k), o <<= S * q", "GATE(h, log)"},
        {"trapezoid", "S <<= exp(g) * S + alpha * v * T(k) + beta * v2 * T(k2), o <<= S * q",
         "INPUT(v2, dv); INPUT(k2, dk)"},
        {"trapezoid_previous", "S <<= exp(g) * S + alpha * v * T(k) + beta * previous(v) * T(previous(k)), o <<= S * q",
         ""},
        {"decay_sums",
         "S <<= alpha * S * diag(w) + 2 * beta * S * diag(e) + v * T(k), "
         "S <<= diag(wv + 2 * v) * S * diag(w) - diag(wv + 2 * v) * S * diag(e), o <<= S * q",
         "GATE(w, linear, dk); INPUT(e, dk); INPUT(wv, dv)"},
        {"mlstm_sig",
         "S <<= sigmoid(f) * S + exp(i) * v * T(k), z <<= sigmoid(f) * z + exp(i) * k, "
         "o <<= (S * q) / max(abs(dot(z, q)), 1)",
         "INPUT(f); INPUT(i)"},
        {"longhorn", "S <<= S + beta / (1 + beta * dot(k, k)) * (v - S * k) * T(k), o <<= S * q", ""},
        {"preconditioned", "z <<= exp(gk) % z + k % k, S <<= S + beta * (v - S * k) * T(z % k), o <<= S * q",
         "GATE(gk, log, dk)"},
        {"scaled_decay", "S <<= 0.5 * exp(g) * S + v * T(k), o <<= S * q", ""},
        {"divided_decay", "S <<= S / exp(g) + v * T(k), o <<= S * q", ""},
        // What one state is makes the decay, the value gate, or the erase key of another.
        {"state_in_decay", "z <<= z + k, S <<= sigmoid(dot(z, k)) * S + beta * (v - S * k) * T(k), o <<= S * q", ""},
        {"state_in_key_decay",
         "z <<= exp(gk) % z + k, S <<= S * diag(sigmoid(z)) + beta * (v - S * k) * T(k), o <<= S * q",
         "GATE(gk, log, dk)"},
        {"state_in_value_decay", "u <<= u + v, S <<= diag(sigmoid(u)) * S + v * T(k), o <<= S * q", "STATE(u, dv)"},
        {"state_in_erase_key", "z <<= z + k, S <<= S + beta * (v - S * (z % k)) * T(k), o <<= S * q", ""},
        {"row_functions", "S <<= S + beta * v * l2norm(T(k), 1e-6), o <<= S * q, y <<= S * T(softmax(T(k)))",
         "OUTPUT(y, dv)"},
        {"momentum_delta", "M <<= mu * M + beta * (v - S * k) * T(k), S <<= alpha * S + M, o <<= S * q",
         "STATE(M, dv, dk); GATE(mu, linear)"},
        {"momentum_delta_log", "M <<= exp(gm) * M + beta * (v - S * k) * T(k), S <<= exp(g) * S + M, o <<= S * q",
         "STATE(M, dv, dk); GATE(gm, log)"},
        {"momentum_sum", "M <<= mu * M + beta * (v - S * k) * T(k), S <<= S + M, o <<= S * q",
         "STATE(M, dv, dk); GATE(mu, linear)"},
        {"crossed_reads", "M <<= M + (S * k) * T(k), S <<= S + (v - M * q) * T(k), o <<= S * q + M * k",
         "STATE(M, dv, dk)"},
        {"value_write_read_gates", "S <<= exp(g) * S + (wv % (v - S * k)) * T(k), o <<= S * q", "INPUT(wv, dv)"},
        {"static_reset", "S <<= v * T(k), S <<= S + beta * (v2 - S * q) * T(k2), o <<= S * q",
         "INPUT(v2, dv); INPUT(k2, dk)"},
        {"decay_only", "S <<= exp(g) * S, o <<= S * q", ""},
        {"read_between",
         "S <<= S + v * T(k), o1 <<= S * q, S <<= alpha * S + beta * (v2 - S * k2) * T(k2), o <<= S * q, "
         "left <<= T(S) * v2",
         "INPUT(v2, dv); INPUT(k2, dk); OUTPUT(o1, dv); OUTPUT(left, dk)"},
        {"two_states",
         "S <<= alpha * S + v * T(k), M <<= M * diag(w) + beta * (S * k - M * q) * T(q), o <<= S * q + M * k",
         "STATE(M, dv, dk); GATE(w, linear, dk)"},
        {"vector_output", "z <<= exp(gk) % z + k % k, y <<= z % q + sum(z) * softmax(k)",
         "GATE(gk, log, dk); OUTPUT(y, dk)"},
        {"left_read_with_gates", "S <<= diag(exp(gv)) * S * diag(exp(gk)) + v * T(k), y <<= T(S) * v, o <<= S * q",
         "GATE(gk, log, dk); GATE(gv, log, dv); OUTPUT(y, dk)"},
        {"mapped_keys", "S <<= S + beta * (v - S * (W * k)) * T(T(W) * k), o <<= (V * (S * q)) / (1 + norm(q))",
         "PARAMETER(W, dk, dk); PARAMETER(V, dv, dv)"},
        {"rectangular_maps", "M <<= M + beta * (v - M * p) * T(W * k), o <<= M * (W * q), y <<= T(M * W) * v",
         "DIM(dr); STATE(M, dv, dr); PARAMETER(W, dr, dk); INPUT(p, dr); OUTPUT(y, dk)"},
        {"chained_maps",
         "S <<= exp(g) * S + v * T(k), o <<= (S * diag(w) * W) * q, y <<= T(S * diag(e) * W) * v, "
         "x <<= (T(S) * diag(v) * S * diag(e) * W) * q",
         "GATE(w, linear, dk); INPUT(e, dk); PARAMETER(W, dk, dk); OUTPUT(y, dk); OUTPUT(x, dk)"},
        {"two_reads", "S <<= alpha * S + (v - beta * (S * k) + mu * (S * q)) * T(k), o <<= S * q", "INPUT(mu)"},
        {"number_of_a_state",
         "S <<= exp(g) * S + v * T(k), M <<= M + beta * k * T(v - T(M) * k), o <<= dot(S * q, v) * v, "
         "y <<= dot(k, M * v) * q + M * v",
         "STATE(M, dk, dv); OUTPUT(y, dk)"},
        // Value-channel decay under a right erase: one triangular system per value channel.
        {"value_decay_erase", "S <<= diag(exp(gv)) * S + beta * (v - S * k) * T(k), o <<= S * q", "GATE(gv, log, dv)"},
        {"value_decay_cancelling", "S <<= diag(exp(gv)) * (S + beta * (v - S * k) * T(k)), o <<= S * q",
         "GATE(gv, log, dv)"},
        {"value_and_key_decay_erase",
         "S <<= diag(exp(gv)) * S * diag(exp(gk)), S <<= S + beta * (v - S * k) * T(k), o <<= S * q",
         "GATE(gk, log, dk); GATE(gv, log, dv)"},
        {"value_decay_two_reads", "S <<= diag(exp(gv)) * S + (v - beta * (S * k) + mu % (S * q)) * T(k), o <<= S * q",
         "GATE(gv, log, dv); INPUT(mu, dv)"},
        // No chunked form, each with its reason.
        {"both_sides", "S <<= S - beta * (S * k) * T(k) - mu * v * T(T(S) * v), o <<= S * q", "INPUT(mu)",
         "both sides"},
        {"norm_clipped", "S <<= S + v * T(k), S <<= S / max(norm(S), 1), o <<= S * q", "", "state"},
        {"tanh_state", "S <<= tanh(S) + v * T(k), o <<= S * q", "", "tanh"},
        {"ttt_norm", "S <<= S + beta * (v - (S * k) / sqrt(1 + dot(S * k, S * k))) * T(k), o <<= S * q", "", "state"},
        {"state_times_read", "S <<= S + dot(S * k, v) * (S * k) * T(k), o <<= S * q", "", "state"},
        {"dense_transition", "S <<= S * A + v * T(k), o <<= S * q", "INPUT(A, dk, dk)", "dense"},
        {"matrix_of_every_token", "S <<= S + v * T(k), o <<= S * q, y <<= A * k", "INPUT(A, dk, dk); OUTPUT(y, dk)",
         "matrix of every token"},
        {"decay_not_a_product", "S <<= diag(v) * S + S * diag(w) + v * T(k), o <<= S * q", "GATE(w, linear, dk)",
         "diag"},
        {"full_rank_write", "S <<= S + B, o <<= S * q", "INPUT(B, dv, dk)", "low rank"},
        {"dot_read", "S <<= S + dot(S * k, v) * v * T(k), o <<= S * q", "", "dot product"},
        {"own_transpose", "Q <<= Q + T(Q) + k * T(k), y <<= Q * q", "STATE(Q, dk, dk); OUTPUT(y, dk)", "transpose"},
        {"turned", "Q <<= T(alpha * Q), y <<= Q * q", "STATE(Q, dk, dk); OUTPUT(y, dk)", "transpose"},
        {"coupled_channel_decays", "M <<= M * diag(w) + beta * (v - S * k) * T(k), S <<= S * diag(e) + M, o <<= S * q",
         "STATE(M, dv, dk); GATE(w, linear, dk); INPUT(e, dk)", "coupled"},
    };
    return rules;
}

} // namespace deltaloom::test
