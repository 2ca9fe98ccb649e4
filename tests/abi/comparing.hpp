#pragma once
// What tests of calls share: every rule, the usual shapes, and the values of one call beside those of another.
#include "calling.hpp"

#include <catch2/catch.hpp>

namespace deltaloom::test {

template<class F> void each_rule(F f) {
    for (std::uint32_t i = 0; i < dl_rule_count(); ++i) {
        INFO(dl_rule_at(i)->name);
        f(*dl_rule_at(i));
    }
}
inline Shape usual(std::int64_t tokens = 21) {
    return {.batch = 2, .tokens = tokens, .heads = 4, .dk = 6, .dv = 3, .own_heads = {{"q", 2}, {"k", 2}, {"u", 2}}};
}
inline Shape packed() {
    return {.batch = 1, .tokens = 23, .heads = 2, .dk = 4, .dv = 7, .offsets = {0, 0, 9, 10, 10, 23}};
}
inline void run(Call& c, bool backward) {
    int const code = c.run(backward);
    INFO(c.status.message);
    REQUIRE(code == 0);
    REQUIRE(c.intact());
}
inline std::size_t states(dl_rule const& r) {
    std::size_t n = 0;
    for (std::uint32_t i = 0; i < r.operand_count; ++i) n += r.operands[i].kind == DL_STATE;
    return n;
}
inline void clear(Call& c, dl_tensor& t) { std::memset(t.data, 0, c.entries.at(&t) * sizeof(float)); }
inline std::string last_path() { return dl_last_path(); }

// The same values, laid out as the tensors of `to` are.
inline void take_values(Call& to, Call& from) {
    for (int what : {0, 1}) {
        std::vector<dl_tensor*> all;
        to.each(what, [&](dl_tensor& t, dl_operand const&) { all.push_back(&t); });
        std::size_t i = 0;
        from.each(what, [&](dl_tensor& t, dl_operand const& o) { to.write(*all[i++], o, from.read(t, o)); });
    }
}
inline void same_values(Call& a, Call& b, bool backward, double parameters_within = 0) {
    std::vector<dl_tensor*> all;
    int const what = backward ? 3 : 2;
    b.each(what, [&](dl_tensor& t, dl_operand const&) { all.push_back(&t); });
    std::size_t i = 0;
    a.each(what, [&](dl_tensor& t, dl_operand const& o) {
        INFO(o.name);
        auto const got = b.read(*all[i++], o), want = a.read(t, o);
        if (o.varies == DL_PER_HEAD && parameters_within > 0)
            CHECK(largest_difference(got, want) <= parameters_within);
        else
            CHECK(got == want);
    });
}

} // namespace deltaloom::test
