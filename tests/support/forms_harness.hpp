#pragma once
// Every emitted form of one rule against its recurrent form, on random data: outputs, final states, all gradients;
// chunk sizes, tails, no tokens at all, numbers of kept states; poisoned results and scratch, guards behind both.
// Included by programs that a test writes and compiles.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <deltaloom/runtime/ops/ops.hpp>
#include <vector>

namespace deltaloom::test {

using runtime::index;
using runtime::sequence;
using runtime::strided;

enum class role { input, parameter, output, state };
struct operand {
    char const* name;
    role kind;
    int steps;
    index rows, cols;
    bool log, linear;
    index entries() const { return (steps ? steps : 1) * rows * cols; }
};
template<class K> struct form {
    index (*scratch)(sequence const&);
    void (*run)(sequence const&, runtime::scratch<K>);
};
template<class K> struct forms {
    form<K> step[2], recurrent[2], chunked[2]; // forward, backward
};

// A small linear congruential generator: the same numbers everywhere.
struct numbers {
    std::uint64_t state;
    std::uint64_t next() { return (state = state * 6364136223846793005u + 1442695040888963407u) >> 11; }
    double uniform() { return double(next()) / double(std::uint64_t(1) << 53); }
};
template<class K> K draw(numbers& n, operand const& o) {
    if constexpr (runtime::is_field<K>) return K::from_element(n.next());
    double const x = n.uniform();
    if (o.log) return K(-x);
    if (o.linear) return K(0.5 + x / 2);
    return o.rows * o.cols == 1 ? K(x) : K((2 * x - 1) / std::sqrt(double(o.rows)));
}

template<class K> struct data {
    std::vector<operand> const& operands;
    index const* dims;
    index tokens;
    bool initial; // there is an initial state
    std::vector<std::vector<K>> value, gradient,
        state_out; // gradient: of an output incoming, of a state the final one's
    data(std::vector<operand> const& all, index const* d, index t, bool i, std::uint64_t seed)
        : operands(all),
          dims(d),
          tokens(t),
          initial(i) {
        numbers n{seed};
        for (auto const& o : all) {
            index const count = (o.kind == role::input || o.kind == role::output ? t : 1) * o.entries();
            value.emplace_back(), gradient.emplace_back();
            for (index e = 0; e < count; ++e)
                value.back().push_back(draw<K>(n, o)),
                    gradient.back().push_back(draw<K>(n, operand{"", role::input, 0, 2, 1, false, false}));
        }
    }
};
template<class K>
using results =
    std::vector<std::vector<K>>; // per operand: output, final state or gradient; then initial states' gradients

constexpr int guard = 64;
template<class K> results<K> run(data<K> const& d, form<K> forward, form<K> backward, index chunk, index segment) {
    std::uint32_t const code = runtime::is_field<K> ? DL_EXACT : std::is_same_v<K, float> ? DL_F32 : DL_F64;
    K const poison = K(-12345.0);
    auto const count = d.operands.size();
    results<K> all(2 * count);
    std::vector<strided> operands(count), gradients(count), in, out, d_in, d_out;
    for (std::size_t i = 0; i < count; ++i) {
        auto const& o = d.operands[i];
        strided s;
        s.scalar = code;
        s.token = o.entries();
        index const inner[2] = {o.cols, 1};
        if (o.steps)
            s.axis[0] = o.rows * o.cols, s.axis[1] = inner[0], s.axis[2] = inner[1];
        else
            s.axis[0] = inner[0], s.axis[1] = inner[1];
        auto const at = [&](std::vector<K> const& v) {
            auto r = s;
            r.data = const_cast<K*>(v.data());
            return r;
        };
        all[i].assign(d.value[i].size() + guard, poison), all[count + i].assign(d.value[i].size() + guard, poison);
        if (o.kind == role::state) {
            strided none;
            in.push_back(d.initial ? at(d.value[i]) : none), out.push_back(at(all[i]));
            d_in.push_back(at(all[count + i])), d_out.push_back(at(d.gradient[i]));
        } else if (o.kind == role::output) {
            operands[i] = at(all[i]), gradients[i] = at(d.gradient[i]);
        } else {
            operands[i] = at(d.value[i]), gradients[i] = at(all[i]);
        }
    }
    sequence s;
    s.tokens = d.tokens, s.chunk = chunk, s.segment = segment, s.dim = d.dims;
    s.operand = operands.data(), s.gradient = gradients.data();
    s.state_in = in.data(), s.state_out = out.data(), s.state_in_gradient = d_in.data(),
    s.state_out_gradient = d_out.data();
    for (auto const& f : {forward, backward}) {
        auto const elements = f.scratch(s);
        std::vector<K> room(elements + guard, poison);
        f.run(s, {room.data(), room.data() + elements});
        for (int g = 0; g < guard; ++g)
            if (!(room[elements + g] == poison)) std::printf("scratch overrun\n"), std::abort();
    }
    for (auto& v : all) {
        for (int g = 0; g < guard; ++g)
            if (!(v[v.size() - 1 - g] == poison)) std::printf("result overrun\n"), std::abort();
        v.resize(v.size() - guard);
    }
    return all;
}

template<class K>
int differences(std::vector<operand> const& operands, results<K> const& want, results<K> const& got, char const* what) {
    int wrong = 0;
    for (std::size_t i = 0; i < want.size(); ++i) {
        double largest = 1;
        if constexpr (!runtime::is_field<K>)
            for (K x : want[i]) largest = std::fabs(x) > largest ? std::fabs(x) : largest;
        for (std::size_t e = 0; e < want[i].size(); ++e) {
            bool same;
            if constexpr (runtime::is_field<K>)
                same = want[i][e] == got[i][e];
            else
                same = std::fabs(want[i][e] - got[i][e]) <= 1e-8 * largest;
            if (!same && ++wrong == 1) {
                auto const& o = operands[i % operands.size()];
                if constexpr (runtime::is_field<K>)
                    std::printf("%s: %s%s[%zu] differs over the field\n", what, i < operands.size() ? "" : "initial ",
                                o.name, e);
                else
                    std::printf("%s: %s%s[%zu] is %.17g, not %.17g\n", what, i < operands.size() ? "" : "initial ",
                                o.name, e, double(got[i][e]), double(want[i][e]));
            }
        }
    }
    return wrong;
}

// The number of differences in the first run that has any.
template<class K>
int check(char const* name, forms<K> const& f, std::vector<operand> const& operands, index const* dims,
          std::uint64_t seed) {
    int wrong = 0;
    for (index tokens : {0, 1, 7})
        for (bool initial : {true, false}) {
            data<K> const d(operands, dims, tokens, initial, seed);
            auto const want = run(d, f.recurrent[0], f.recurrent[1], 1, tokens + 1);
            auto const compare = [&](char const* kind, form<K> const(&its)[2], index chunk, index segment) {
                if (wrong) return;
                char what[160];
                std::snprintf(what, sizeof what, "%s, %s, %d tokens, chunk %d, segment %d", name, kind, int(tokens),
                              int(chunk), int(segment));
                wrong = differences(operands, want, run(d, its[0], its[1], chunk, segment), what);
            };
            for (index segment : {1, 3}) compare("recurrent", f.recurrent, 1, segment);
            if (tokens == 1) compare("step", f.step, 1, 1);
            if (!f.chunked[0].run) continue;
            for (index chunk : {1, 2, 3, 7, 8})
                for (index segment : {1, 2, 9}) compare("chunked", f.chunked, chunk, segment);
        }
    return wrong;
}

} // namespace deltaloom::test
