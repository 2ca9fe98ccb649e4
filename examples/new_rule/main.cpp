#include <cstdio>
#include <twofold_memory/twofold.hpp>
#include <vector>

int main() {
    constexpr int T = 2, d = 2; // write (5, 2) under key (1, 0), then (3, 7) under (0, 1); read both
    std::vector<float> k{1, 0, 0, 1}, v{5, 2, 3, 7}, q{1, 0, 1, 0}, e(T * d), w(T * d), eta(T), beta{1, 1}, o(T * d);
    twofold_memory::twofold::arguments a{.tokens = T, .dv = d, .dk = d};
    a.k = deltaloom::tensor(k.data(), T, 1, {d}), a.q = deltaloom::tensor(q.data(), T, 1, {d});
    a.v = deltaloom::tensor(v.data(), T, 1, {d}), a.o = deltaloom::tensor(o.data(), T, 1, {d});
    a.e = deltaloom::tensor(e.data(), T, 1, {d}), a.w = deltaloom::tensor(w.data(), T, 1, {d});
    a.eta = deltaloom::tensor(eta.data(), T, 1), a.beta = deltaloom::tensor(beta.data(), T, 1);
    twofold_memory::twofold::forward(a);
    std::printf("the first pair reads (%g, %g), after the second too (%g, %g)\n", o[0], o[1], o[2], o[3]);
}
