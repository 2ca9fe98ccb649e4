// A byte-level associative memory over a real text, without training: the key is a fixed random vector of the last
// bytes, the value the next byte. Every rule reads the whole text once with its chunked kernel and is asked, at each
// place, which byte comes next.
#include "read_text.hpp"
#include "text.hpp"

#include <algorithm>
#include <byte_rules/delta.h>
#include <chrono>
#include <cmath>
#include <cstring>
#include <deltaloom/runtime/abi/call.hpp>
#include <fmt/format.h>
#include <thread>
#include <unistd.h>

namespace {

constexpr int heads = 4, dk = 64, block = 4096;

// What each gate and strength is set to: a library says by name which operands a rule has. In gated, beta is also what
// every token makes the memory forget of everything, so it is small there.
float constant(std::string const& rule, std::string const& operand) {
    if (operand == "beta") return rule == "gated" ? 0.001f : 0.2f;
    if (operand == "eta") return 0.05f;
    if (operand == "alpha") return 0.9999f; // linear gate
    return -0.0001f;                        // log gates
}

class Memory {
public:
    Memory(dl_rule const& rule, int dv, int threads)
        : rule_(rule),
          dv_(dv),
          threads_(threads),
          state_(std::size_t(heads * dv * dk)) {}

    // Tokens first .. first + count - 1 of the text: write (context before, byte), then read with the context that ends
    // there. `out`: count * heads * dv.
    void run(Text const& text, ContextKeys const& keys, std::size_t first, int count, std::vector<float>& out,
             dl_form form) {
        fill(text, keys, first, count);
        out.resize(std::size_t(count * heads * dv_));
        std::vector<dl_tensor> operand(rule_.operand_count);
        std::vector<std::vector<float>> constants(rule_.operand_count);
        for (std::uint32_t i = 0; i < rule_.operand_count; ++i) {
            std::string const name = rule_.operands[i].name;
            bool const vector = rule_.operands[i].rank == 1;
            if (name == "k")
                operand[i] = deltaloom::tensor(k_.data(), count, heads, {dk});
            else if (name == "q")
                operand[i] = deltaloom::tensor(q_.data(), count, heads, {dk});
            else if (name == "v")
                operand[i] = deltaloom::tensor(v_.data(), count, 1, {dv_}); // one value for all heads
            else if (name == "e")
                operand[i] = deltaloom::tensor(e_.data(), count, heads, {dk});
            else if (name == "o")
                operand[i] = deltaloom::tensor(out.data(), count, heads, {dv_});
            else if (rule_.operands[i].kind != DL_STATE) {
                constants[i].assign(dk, constant(rule_.name, name));
                operand[i] = deltaloom::tensor(constants[i].data(), count, 1, {});
                std::fill(operand[i].stride, operand[i].stride + 6, 0); // one number for all tokens
                if (vector) operand[i].stride[3] = 1;
            }
        }
        auto const state = deltaloom::state(state_.data(), heads, {dv_, dk});
        dl_call call{};
        call.struct_size = sizeof call, call.abi_version = DL_ABI_VERSION, call.form = form;
        call.batch = 1, call.tokens = count, call.value_heads = heads, call.threads = threads_;
        for (std::uint32_t d = 0; d < rule_.dim_count; ++d) call.dim[d] = std::string(rule_.dims[d]) == "dk" ? dk : dv_;
        call.operand = operand.data();
        call.state_in = call.state_out = const_cast<dl_tensor*>(&state); // in place
        dl_status status{};
        std::size_t bytes = 0;
        if (dl_workspace(&rule_, &call, &bytes, &status)) throw deltaloom::error(status);
        if (workspace_.size() < bytes) workspace_.resize(bytes);
        call.workspace = workspace_.data(), call.workspace_bytes = workspace_.size();
        if (dl_forward(&rule_, &call, &status)) throw deltaloom::error(status);
    }

private:
    static std::size_t two_before(std::size_t position) { return position < 2 ? 0 : position - 2; }

    dl_rule const& rule_;
    int dv_, threads_;
    std::vector<float> state_, k_, q_, v_, e_;
    std::vector<std::byte> workspace_;

    void fill(Text const& text, ContextKeys const& keys, std::size_t first, int count) {
        std::size_t const row = std::size_t(heads * dk);
        k_.resize(std::size_t(count) * row), q_.resize(k_.size()), e_.resize(k_.size()),
            v_.assign(std::size_t(count * dv_), 0.0f);
        for (int t = 0; t < count; ++t) {
            std::size_t const at = first + std::size_t(t);
            if (t == 0)
                keys.write(text, at - 1, &k_[0]);
            else
                std::memcpy(&k_[std::size_t(t) * row], &q_[std::size_t(t - 1) * row], row * sizeof(float));
            keys.write(text, at, &q_[std::size_t(t) * row]);
            v_[std::size_t(t * dv_ + text.symbols[at])] = 1;
        }
        // A second erase key, of the context one byte earlier.
        keys.write(text, two_before(first), &e_[0]);
        if (count > 1) std::memcpy(e_.data() + row, k_.data(), (std::size_t(count) - 1) * row * sizeof(float));
    }
};

// The byte whose score, summed over the heads, is largest.
int predicted(float const* out, int dv) {
    int best = 0;
    float most = -1e30f;
    for (int j = 0; j < dv; ++j) {
        float score = 0;
        for (int h = 0; h < heads; ++h) score += out[h * dv + j];
        if (score > most) most = score, best = j;
    }
    return best;
}

// The largest difference between the chunked kernel and one decode step a token, over the first tokens.
double chunked_against_decode(dl_rule const& rule, Text const& text, ContextKeys const& keys, int tokens) {
    int const dv = int(text.bytes.size());
    Memory chunked(rule, dv, 1), decode(rule, dv, 1);
    std::vector<float> all, one;
    chunked.run(text, keys, 1, tokens, all, DL_CHUNKED);
    double worst = 0;
    for (int t = 0; t < tokens; ++t) {
        decode.run(text, keys, 1 + std::size_t(t), 1, one, DL_STEP);
        for (int i = 0; i < heads * dv; ++i)
            worst = std::max(worst, double(std::abs(one[std::size_t(i)] - all[std::size_t(t * heads * dv + i)])));
    }
    return worst;
}

double accuracy(dl_rule const& rule, Text const& text, ContextKeys const& keys, int threads, double& seconds) {
    int const dv = int(text.bytes.size());
    Memory memory(rule, dv, threads);
    std::vector<float> out;
    std::size_t right = 0, asked = 0;
    auto const begin = std::chrono::steady_clock::now();
    bool const terminal = isatty(2);
    auto gone = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
    for (std::size_t first = 1; first + 1 < text.symbols.size(); first += block) {
        int const count = int(std::min<std::size_t>(block, text.symbols.size() - 1 - first));
        memory.run(text, keys, first, count, out, DL_CHUNKED);
        for (int t = 0; t < count; ++t)
            right += predicted(&out[std::size_t(t * heads * dv)], dv) == text.symbols[first + std::size_t(t) + 1];
        asked += std::size_t(count);
        if (terminal) {
            double const done = double(first + std::size_t(count)) / double(text.symbols.size());
            fmt::print(stderr, "\r\033[K{:<12} [{:<30}] {:5.1f} %  {:.1f} % right  {:.0f} s left", rule.name,
                       std::string(std::size_t(30 * done), '='), 100 * done, 100.0 * double(right) / double(asked),
                       gone() * (1 - done) / done);
        }
    }
    if (terminal) fmt::print(stderr, "\r\033[K");
    seconds = gone();
    return double(right) / double(asked);
}

} // namespace

int main(int argc, char** argv) {
    std::string file;
    std::size_t limit = ~std::size_t(0);
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!std::strcmp(argv[i], "--text"))
            file = argv[i + 1];
        else if (!std::strcmp(argv[i], "--bytes"))
            limit = std::stoull(argv[i + 1]);
        else
            return fmt::print(stderr, "byte_memory [--text FILE] [--bytes N]\n"), 2;
    }
    try {
        Text const text = symbols_of(read_text(file, limit));
        ContextKeys const keys(heads, dk);
        int const threads = int(std::max(1u, std::thread::hardware_concurrency()));
        std::vector<std::size_t> counts(text.bytes.size());
        for (auto s : text.symbols) ++counts[s];
        double const common = double(*std::max_element(counts.begin(), counts.end())) / double(text.symbols.size());
        fmt::print("{} bytes, {} distinct; keys: {} heads of the last 1 to {} bytes, dk = {}; the commonest byte alone "
                   "is right {:.1f} % of the time\n",
                   text.symbols.size(), text.bytes.size(), heads, heads, dk, 100 * common);
        fmt::print("{:<14}{:>14}{:>12}{:>16}{:>24}\n", "rule", "next byte", "seconds", "bytes/second",
                   "chunked - decode");
        for (std::uint32_t i = 0; i < dl_rule_count(); ++i) {
            dl_rule const& rule = *dl_rule_at(i);
            double const difference =
                chunked_against_decode(rule, text, keys, int(std::min<std::size_t>(500, text.symbols.size() - 2)));
            double seconds = 0;
            double const right = accuracy(rule, text, keys, threads, seconds);
            fmt::print("{:<14}{:>12.2f} %{:>12.1f}{:>16.0f}{:>24.1e}\n", rule.name, 100 * right, seconds,
                       double(text.symbols.size()) / seconds, difference);
        }
    } catch (std::exception const& e) {
        return fmt::print(stderr, "byte_memory: {}\n", e.what()), 1;
    }
}
