// What the fields of a call mean: absent tensors, shared heads, states in place, transposed, kept on the way; strides,
// scalars, chunks. For every rule of the library.
#include "calling.hpp"

#include <catch2/catch.hpp>
#include <thread>

using namespace deltaloom::test;

namespace {

template<class F> void each_rule(F f) {
    for (std::uint32_t i = 0; i < dl_rule_count(); ++i) {
        INFO(dl_rule_at(i)->name);
        f(*dl_rule_at(i));
    }
}
Shape usual(std::int64_t tokens = 21) {
    return {.batch = 2, .tokens = tokens, .heads = 4, .dk = 6, .dv = 3, .own_heads = {{"q", 2}, {"k", 2}, {"u", 2}}};
}
Shape packed() { return {.batch = 1, .tokens = 23, .heads = 2, .dk = 4, .dv = 7, .offsets = {0, 0, 9, 10, 10, 23}}; }
void run(Call& c, bool backward) {
    int const code = c.run(backward);
    INFO(c.status.message);
    REQUIRE(code == 0);
    REQUIRE(c.intact());
}
std::size_t states(dl_rule const& r) {
    std::size_t n = 0;
    for (std::uint32_t i = 0; i < r.operand_count; ++i) n += r.operands[i].kind == DL_STATE;
    return n;
}
void clear(Call& c, dl_tensor& t) { std::memset(t.data, 0, c.entries.at(&t) * sizeof(float)); }
std::string last_path() { return dl_last_path(); }

} // namespace

TEST_CASE("an absent initial state is zeros, an absent final one is not wanted") {
    each_rule([](dl_rule const& r) {
        Call zeros(r, usual()), absent(r, usual());
        for (auto& t : zeros.state_in) clear(zeros, t);
        absent.call.state_in = nullptr, absent.call.state_in_gradient = nullptr;
        for (auto& t : zeros.state_in_gradient) t.data = nullptr;
        for (auto& t : absent.state_in_gradient) t.data = nullptr;
        for (bool backward : {false, true}) {
            run(zeros, backward), run(absent, backward);
            CHECK(zeros.hash(backward) == absent.hash(backward));
        }
        Call whole(r, usual()), part(r, usual());
        run(whole, false);
        part.call.state_out = nullptr;
        run(part, false);
        for (std::uint32_t i = 0; i < r.operand_count; ++i)
            if (r.operands[i].kind == DL_OUTPUT) CHECK(whole.values(whole.operand[i]) == part.values(part.operand[i]));
        for (auto const& o : part.outputs[0])
            if (std::any_of(part.state_out.begin(), part.state_out.end(), [&](auto& t) { return &t == o.tensor; }))
                CHECK(std::all_of(o.data, o.data + o.bytes, [](unsigned char x) { return x == 0xff; }));
    });
}

TEST_CASE("an absent incoming gradient is zero") {
    each_rule([](dl_rule const& r) {
        for (int absent : {1, 2, 3}) { // outputs', states', both
            Call zeros(r, usual()), none(r, usual());
            for (std::uint32_t i = 0; i < r.operand_count; ++i)
                if (r.operands[i].kind == DL_OUTPUT && absent & 1)
                    clear(zeros, zeros.gradient[i]), none.gradient[i].data = nullptr;
            if (absent & 2) {
                for (auto& t : zeros.state_out_gradient) clear(zeros, t);
                none.call.state_out_gradient = nullptr;
            }
            run(zeros, true), run(none, true);
            CHECK(zeros.finite(true));
            CHECK(zeros.hash(true) == none.hash(true));
        }
    });
    // What the loss does not reach has a zero gradient.
    Call c(*dl_rule_named("delta"), usual());
    c.gradient[c.index("o")].data = nullptr;
    run(c, true);
    for (float x : c.values(c.gradient[c.index("q")])) REQUIRE(x == 0);
}

TEST_CASE("a gradient that is not wanted is left alone, and changes no other") {
    each_rule([](dl_rule const& r) {
        Call whole(r, usual());
        run(whole, true);
        for (std::size_t skipped = 0; skipped < whole.outputs[1].size(); ++skipped) {
            Call part(r, usual());
            part.outputs[1][skipped].tensor->data = nullptr;
            run(part, true);
            for (std::size_t i = 0; i < part.outputs[1].size(); ++i) {
                auto const &got = part.outputs[1][i], &want = whole.outputs[1][i];
                if (i == skipped)
                    CHECK(std::all_of(got.data, got.data + got.bytes, [](unsigned char x) { return x == 0xff; }));
                else
                    CHECK(std::memcmp(got.data, want.data, got.bytes) == 0);
            }
        }
        Call none(r, usual());
        for (auto& o : none.outputs[1]) o.tensor->data = nullptr;
        std::size_t bytes = 77;
        none.call.workspace = nullptr, none.call.workspace_bytes = 0;
        REQUIRE(dl_backward(&r, &none.call, &none.status) == 0);
        CHECK(last_path().find("none backward") == 0);
        none.call.state_out = nullptr;
        for (std::uint32_t i = 0; i < r.operand_count; ++i)
            if (r.operands[i].kind == DL_OUTPUT) none.operand[i].data = nullptr;
        REQUIRE(dl_workspace(&r, &none.call, &bytes, &none.status) == 0);
        CHECK(bytes == 0);
        CHECK(none.untouched());
    });
}

TEST_CASE("value head h reads head h / (value heads / heads); gradients of a shared head are sums") {
    each_rule([](dl_rule const& r) {
        Shape grouped = usual(), repeated = usual();
        repeated.own_heads.clear();
        Call few(r, grouped), many(r, repeated);
        auto const spread = [&](dl_tensor& to, dl_tensor const& from, bool parameter, bool state) {
            std::size_t const heads = from.heads, share = to.heads / heads, n = many.entries.at(&to) / to.heads;
            std::size_t const inner = std::size_t(from.stride[2]), outer = n / inner;
            (void)parameter, (void)state;
            for (std::size_t row = 0; row < outer; ++row)
                for (std::size_t h = 0; h < to.heads; ++h)
                    std::copy_n(few.data(from) + (row * heads + h / share) * inner, inner,
                                many.data(to) + (row * to.heads + h) * inner);
        };
        for (std::uint32_t i = 0; i < r.operand_count; ++i)
            if (r.operands[i].kind != DL_STATE && r.operands[i].kind != DL_OUTPUT)
                spread(many.operand[i], few.operand[i], r.operands[i].varies == DL_PER_HEAD, false);
        for (std::uint32_t i = 0; i < r.operand_count; ++i)
            if (r.operands[i].kind == DL_OUTPUT)
                std::copy_n(few.data(few.gradient[i]), few.entries.at(&few.gradient[i]), many.data(many.gradient[i]));
        for (std::size_t s = 0; s < states(r); ++s) {
            spread(many.state_in[s], few.state_in[s], false, true);
            // The gradient of a shared hidden state comes in once.
            clear(many, many.state_out_gradient[s]);
            std::size_t const share = many.state_in[s].heads / few.state_in[s].heads,
                              inner = std::size_t(few.state_in[s].stride[2]);
            for (std::size_t row = 0; row < 2; ++row)
                for (std::size_t h = 0; h < few.state_in[s].heads; ++h)
                    std::copy_n(few.data(few.state_out_gradient[s]) + (row * few.state_in[s].heads + h) * inner, inner,
                                many.data(many.state_out_gradient[s]) +
                                    (row * many.state_in[s].heads + h * share) * inner);
        }
        for (bool backward : {false, true}) run(few, backward), run(many, backward);
        for (bool backward : {false, true})
            for (std::size_t o = 0; o < few.outputs[backward].size(); ++o) {
                dl_tensor const &a = *few.outputs[backward][o].tensor, &b = *many.outputs[backward][o].tensor;
                auto const got = few.values(a), wide = many.values(b);
                std::size_t const inner = std::size_t(a.stride[2]), share = b.heads / a.heads;
                std::vector<float> want(got.size());
                for (std::size_t e = 0; e < wide.size(); ++e) {
                    std::size_t const head = e / inner % b.heads, row = e / inner / b.heads;
                    float& to = want[(row * a.heads + head / share) * inner + e % inner];
                    if (backward)
                        to += wide[e];
                    else
                        to = wide[e];
                }
                CHECK(largest_difference(got, want) <= 2e-5);
            }
    });
}

TEST_CASE("a state advances in place, token by token") {
    each_rule([](dl_rule const& r) {
        Shape const shape = usual(6);
        Call whole(r, shape), apart(r, usual(1)), in_place(r, usual(1));
        whole.call.form = DL_RECURRENT;
        run(whole, false);
        in_place.call.state_out = in_place.call.state_in;
        for (std::size_t s = 0; s < states(r); ++s)
            for (Call* c : {&apart, &in_place})
                std::copy_n(whole.data(whole.state_in[s]), whole.entries.at(&whole.state_in[s]),
                            c->data(c->state_in[s]));
        for (std::int64_t t = 0; t < shape.tokens; ++t) {
            for (Call* c : {&apart, &in_place}) {
                for (std::uint32_t i = 0; i < r.operand_count; ++i) {
                    dl_operand const& o = r.operands[i];
                    if (o.kind == DL_STATE || o.kind == DL_OUTPUT) continue;
                    auto const& from = whole.operand[i];
                    auto& to = c->operand[i];
                    bool const token = o.varies == DL_PER_TOKEN;
                    for (std::int64_t b = 0; b < (token ? shape.batch : 1); ++b)
                        std::copy_n(whole.data(from) + (token ? b * from.stride[0] + t * from.stride[1] : 0),
                                    token ? std::size_t(from.stride[1]) : whole.entries.at(&from),
                                    c->data(to) + b * to.stride[0]);
                }
                run(*c, false);
                CHECK(last_path().find("step forward") == 0);
            }
            for (std::uint32_t i = 0; i < r.operand_count; ++i)
                if (r.operands[i].kind == DL_OUTPUT)
                    CHECK(apart.values(apart.operand[i]) == in_place.values(in_place.operand[i]));
            for (std::size_t s = 0; s < states(r); ++s) {
                CHECK(apart.values(apart.state_out[s]) == in_place.values(in_place.state_in[s]));
                std::copy_n(apart.data(apart.state_out[s]), apart.entries.at(&apart.state_out[s]),
                            apart.data(apart.state_in[s]));
            }
        }
        for (std::size_t s = 0; s < states(r); ++s)
            CHECK(largest_difference(whole.values(whole.state_out[s]), in_place.values(in_place.state_in[s])) <= 1e-5);
        // And several tokens at once, in every form.
        for (std::uint32_t form : {DL_RECURRENT, DL_CHUNKED, DL_PARALLEL, DL_SUMMARY}) {
            if (!(r.forms >> form & 1)) continue;
            Call two(r, usual()), one(r, usual());
            two.call.form = one.call.form = form;
            if (form == DL_SUMMARY) two.call.chunk = one.call.chunk = 1; // several segments
            one.call.state_out = one.call.state_in;
            run(two, false), run(one, false);
            for (std::size_t s = 0; s < states(r); ++s)
                CHECK(two.values(two.state_out[s]) == one.values(one.state_in[s]));
        }
    });
}

TEST_CASE("a packed decode: one token a sequence, or none") {
    each_rule([](dl_rule const& r) {
        Shape const mixed{.batch = 1, .tokens = 3, .heads = 2, .dk = 4, .dv = 3, .offsets = {0, 1, 1, 2, 3}};
        Shape const full{.batch = 1, .tokens = 3, .heads = 2, .dk = 4, .dv = 3, .offsets = {0, 1, 2, 3}};
        Call c(r, mixed), step(r, full);
        std::vector<std::vector<float>> initial;
        initial.reserve(states(r));
        for (auto& t : c.state_in) initial.emplace_back(c.values(t));
        run(c, false);
        CHECK(c.finite(false));
        for (std::size_t s = 0; s < states(r); ++s) { // the second sequence is empty: it keeps its state
            auto const final_state = c.values(c.state_out[s]);
            std::size_t const n = initial[s].size() / 4;
            CHECK(std::equal(final_state.begin() + std::ptrdiff_t(n), final_state.begin() + std::ptrdiff_t(2 * n),
                             initial[s].begin() + std::ptrdiff_t(n)));
        }
        step.each(0, [&](dl_tensor& t, dl_operand const& o) {
            if (o.kind != DL_STATE) return step.write(t, o, c.values(c.operand[c.index(o.name)]));
            auto values = c.values(c.state_in[c.index(o.name)]);
            auto const n = std::ptrdiff_t(values.size() / 4);
            values.erase(values.begin() + n, values.begin() + 2 * n);
            step.write(t, o, values);
        });
        step.call.form = DL_STEP;
        run(step, false);
        CHECK(last_path().find("step forward") == 0);
        for (std::uint32_t i = 0; i < r.operand_count; ++i)
            if (r.operands[i].kind == DL_OUTPUT)
                CHECK(largest_difference(step.values(step.operand[i]), c.values(c.operand[i])) <= 1e-6);
        // An empty sequence begins past the only token, whose stride is never used.
        Call one(r, {.batch = 1, .tokens = 1, .heads = 2, .dk = 4, .dv = 3, .offsets = {0, 1, 1}});
        for (int what = 0; what < 4; ++what)
            one.each(what, [](dl_tensor& t, dl_operand const& o) {
                if (o.varies == DL_PER_TOKEN) t.stride[1] = std::int64_t(1) << 62;
            });
        for (bool backward : {false, true}) {
            run(one, backward);
            CHECK(one.finite(backward));
        }
    });
}

// The same values, laid out as the tensors of `to` are.
static void take_values(Call& to, Call& from) {
    for (int what : {0, 1}) {
        std::vector<dl_tensor*> all;
        to.each(what, [&](dl_tensor& t, dl_operand const&) { all.push_back(&t); });
        std::size_t i = 0;
        from.each(what, [&](dl_tensor& t, dl_operand const& o) { to.write(*all[i++], o, from.read(t, o)); });
    }
}
static void same_values(Call& a, Call& b, bool backward, double parameters_within = 0) {
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

TEST_CASE("transposed states lie key axis first") {
    each_rule([](dl_rule const& r) {
        Call plain(r, usual()), turned(r, usual());
        plain.make_snapshots(3), turned.make_snapshots(3);
        turned.call.flags = DL_STATE_TRANSPOSED;
        for (std::size_t s = 0, i = 0; i < r.operand_count; ++i) {
            if (r.operands[i].kind != DL_STATE) continue;
            for (auto* all : {&turned.state_in, &turned.state_out, &turned.state_in_gradient,
                              &turned.state_out_gradient, &turned.snapshots})
                if (r.operands[i].rank == 2) (*all)[s].stride[3] = turned.extent(r.operands[i].dims[0]);
            ++s;
        }
        take_values(turned, plain);
        CHECK(turned.values(turned.state_in[0]) != plain.values(plain.state_in[0]));
        for (bool backward : {false, true}) {
            run(plain, backward), run(turned, backward);
            same_values(plain, turned, backward);
        }
        for (std::size_t s = 0, i = 0; i < r.operand_count; ++i)
            if (r.operands[i].kind == DL_STATE) {
                CHECK(plain.read(plain.snapshots[s], r.operands[i], 3) ==
                      turned.read(turned.snapshots[s], r.operands[i], 3));
                ++s;
            }
    });
}

TEST_CASE("strides mean what they say: every axis order, gaps, backwards") {
    each_rule([](dl_rule const& r) {
        Call plain(r, usual(9));
        for (bool backward : {false, true}) run(plain, backward);
        std::mt19937 draw(5);
        for (int order = 0; order < 6; ++order) {
            Call c(r, usual(9));
            // Any order of the axes, in memory with gaps, one axis running backwards; what is between stays as it is.
            std::deque<std::vector<float>> room;
            std::vector<std::pair<std::size_t, std::vector<bool>>> used;
            auto const lay_out = [&](dl_tensor& t, dl_operand const& o) {
                struct Axis {
                    int number;
                    std::int64_t extent;
                };
                std::vector<Axis> axes{{2, t.heads}};
                if (o.varies != DL_PER_HEAD) axes.push_back({0, c.shape.batch});
                if (o.varies == DL_PER_TOKEN) axes.push_back({1, c.shape.tokens});
                for (std::uint32_t a = 0; a < o.rank; ++a) axes.push_back({3 + int(a), c.extent(o.dims[a])});
                std::shuffle(axes.begin(), axes.end(), draw);
                std::int64_t step = 1 + std::int64_t(draw() % 2), first = 0;
                for (auto const& axis : axes) {
                    bool const back = draw() % 4 == 0;
                    t.stride[axis.number] = back ? -step : step;
                    if (back) first += (axis.extent - 1) * step;
                    step = step * axis.extent + std::int64_t(draw() % 3);
                }
                auto& memory = room.emplace_back(std::size_t(step + first), 0.0f);
                std::memset(memory.data(), 0xff, memory.size() * sizeof(float));
                t.data = memory.data() + first;
                std::vector<bool> mine(memory.size());
                for (float* x : c.places(t, o)) mine[std::size_t(x - memory.data())] = true;
                used.emplace_back(room.size() - 1, mine);
            };
            for (int what = 0; what < 4; ++what) c.each(what, lay_out);
            take_values(c, plain);
            for (bool backward : {false, true}) {
                run(c, backward);
                same_values(plain, c, backward);
            }
            for (auto const& [which, mine] : used)
                for (std::size_t e = 0; e < mine.size(); ++e)
                    if (!mine[e]) REQUIRE(__builtin_bit_cast(std::uint32_t, room[which][e]) == 0xffffffffu);
        }
        // One value for all tokens, one for all heads.
        Call wide(r, usual(9)), narrow(r, usual(9));
        for (std::uint32_t i = 0; i < r.operand_count; ++i) {
            dl_operand const& o = r.operands[i];
            if (o.kind == DL_STATE || o.kind == DL_OUTPUT) continue;
            for (int a : {0, 1, 2}) narrow.operand[i].stride[a] = 0;
            wide.write(wide.operand[i], o, narrow.read(narrow.operand[i], o));
        }
        for (bool backward : {false, true}) {
            run(wide, backward), run(narrow, backward);
            same_values(wide, narrow, backward);
        }
    });
}

TEST_CASE("snapshots of the last states, slot 0 the newest") {
    each_rule([](dl_rule const& r) {
        for (Shape const& shape : {usual(7), packed()})
            for (std::int64_t n : {1, 3, 7, 16})
                for (std::uint32_t form : {DL_CHOOSE, DL_RECURRENT, DL_CHUNKED}) {
                    Call c(r, shape), plain(r, shape);
                    c.make_snapshots(n);
                    c.call.form = plain.call.form = form;
                    run(c, false), run(plain, false);
                    CHECK(c.finite(false));
                    c.each(2, [&](dl_tensor& t, dl_operand const& o) {
                        if (o.kind != DL_OUTPUT) return;
                        CHECK(largest_difference(c.read(t, o), plain.values(plain.operand[plain.index(o.name)])) <=
                              1e-5);
                    });
                    for (std::int64_t slot = 0; slot < n; ++slot) {
                        // What a call without the last `slot` tokens ends with: all sequences cut, or gone.
                        Shape cut = shape;
                        if (shape.offsets.empty()) cut.tokens = std::max<std::int64_t>(0, shape.tokens - slot);
                        for (std::size_t s = 0; s < states(r); ++s) {
                            std::uint32_t i = 0;
                            for (std::size_t left = s + 1; left > 0; ++i) left -= r.operands[i].kind == DL_STATE;
                            dl_operand const& o = r.operands[i - 1];
                            auto const all = c.read(c.snapshots[s], o, n);
                            std::size_t const inner = all.size() / std::size_t(n * c.sequences());
                            std::vector<float> got;
                            for (std::int64_t b = 0; b < c.sequences(); ++b)
                                got.insert(got.end(), all.begin() + std::ptrdiff_t(std::size_t(b * n + slot) * inner),
                                           all.begin() + std::ptrdiff_t(std::size_t(b * n + slot + 1) * inner));
                            if (slot == 0) CHECK(got == c.values(c.state_out[s]));
                            if (!shape.offsets.empty()) { // shorter sequences hold their initial states
                                auto const initial = c.values(c.state_in[s]);
                                for (std::int64_t b = 0; b < c.sequences(); ++b)
                                    if (shape.offsets[std::size_t(b) + 1] - shape.offsets[std::size_t(b)] <= slot)
                                        CHECK(std::equal(initial.begin() + std::ptrdiff_t(std::size_t(b) * inner),
                                                         initial.begin() + std::ptrdiff_t(std::size_t(b + 1) * inner),
                                                         got.begin() + std::ptrdiff_t(std::size_t(b) * inner)));
                                continue;
                            }
                            Call prefix(r, cut);
                            prefix.call.form = DL_RECURRENT;
                            prefix.each(0, [&](dl_tensor& t, dl_operand const& p) {
                                if (p.kind == DL_STATE || p.varies == DL_PER_HEAD) return;
                                auto const& whole = c.operand[c.index(p.name)];
                                for (std::int64_t b = 0; b < shape.batch; ++b)
                                    std::copy_n(c.data(whole) + b * whole.stride[0], std::size_t(t.stride[0]),
                                                prefix.data(t) + b * t.stride[0]);
                            });
                            for (std::uint32_t p = 0; p < r.operand_count; ++p)
                                if (r.operands[p].varies == DL_PER_HEAD)
                                    prefix.write(prefix.operand[p], r.operands[p], c.values(c.operand[p]));
                            for (std::size_t k = 0; k < states(r); ++k)
                                std::copy_n(c.data(c.state_in[k]), c.entries.at(&c.state_in[k]),
                                            prefix.data(prefix.state_in[k]));
                            run(prefix, false);
                            CHECK(largest_difference(got, prefix.values(prefix.state_out[s])) <= 1e-5);
                        }
                    }
                }
        // Of one state only; in place.
        Call c(r, usual(7)), plain(r, usual(7));
        c.make_snapshots(3);
        for (std::size_t s = 1; s < states(r); ++s) c.snapshots[s].data = nullptr;
        c.call.state_out = c.call.state_in;
        plain.make_snapshots(3);
        run(c, false), run(plain, false);
        for (std::size_t s = 0; s < states(r); ++s) CHECK(c.values(c.state_in[s]) == plain.values(plain.state_out[s]));
        CHECK(c.values(c.snapshots[0]) == plain.values(plain.snapshots[0]));
    });
}

// A parameter's gradient is summed over the chunks in another order; all else has the same bits.
TEST_CASE("the forward's chunk states spare the backward its own") {
    each_rule([](dl_rule const& r) {
        struct Kind {
            std::uint32_t form, chunk;
            std::int64_t slots;
        };
        for (Shape const& shape : {usual(21), packed(), usual(0)})
            for (Kind const& kind : {Kind{DL_CHUNKED, 4, 6}, Kind{DL_CHUNKED, 16, 2}, Kind{DL_RECURRENT, 0, 24},
                                     Kind{DL_PARALLEL, 0, 1}}) {
                Call plain(r, shape), kept(r, shape);
                for (Call* c : {&plain, &kept}) c->call.form = kind.form, c->call.chunk = kind.chunk;
                kept.make_snapshots(kind.slots);
                kept.call.flags = DL_CHUNK_STATES;
                for (bool backward : {false, true}) {
                    run(plain, backward), run(kept, backward);
                    same_values(plain, kept, backward, 1e-5);
                }
                CHECK(last_path().find("states given") != std::string::npos);
                if (shape.tokens && shape.offsets.empty()) { // slot 0 is the initial state
                    auto const slots = kept.values(kept.snapshots[0]), initial = kept.values(kept.state_in[0]);
                    CHECK(std::equal(initial.begin(), initial.begin() + std::ptrdiff_t(initial.size() / 2),
                                     slots.begin()));
                }
            }
        // They are really read.
        Call c(r, usual(21));
        c.call.form = DL_CHUNKED, c.call.chunk = 4;
        c.make_snapshots(6);
        c.call.flags = DL_CHUNK_STATES;
        run(c, false), run(c, true);
        auto const before = c.hash(true);
        for (std::size_t e = 0; e < c.entries.at(&c.snapshots[0]); ++e) c.data(c.snapshots[0])[e] += 1;
        run(c, true);
        CHECK(c.hash(true) != before);
    });
}

TEST_CASE("every chunk that is offered, and every form, gives what the recurrence gives") {
    each_rule([](dl_rule const& r) {
        Call want(r, usual(37));
        want.call.form = DL_RECURRENT;
        for (bool backward : {false, true}) run(want, backward);
        auto const see = [&](std::uint32_t form, std::uint32_t chunk) {
            Call got(r, usual(37));
            got.call.form = form, got.call.chunk = chunk;
            INFO("form " << form << " chunk " << chunk);
            for (bool backward : {false, true}) {
                run(got, backward);
                for (std::size_t o = 0; o < got.outputs[backward].size(); ++o)
                    CHECK(largest_difference(got.values(*got.outputs[backward][o].tensor),
                                             want.values(*want.outputs[backward][o].tensor)) <= 1e-4);
            }
        };
        int offered = 0;
        for (auto const* chunk = r.chunks; *chunk; ++chunk) see(DL_CHUNKED, *chunk), ++offered;
        CHECK(offered >= 8);
        see(DL_PARALLEL, 0), see(DL_CHOOSE, 0), see(DL_CHOOSE, 8);
        if (r.forms >> DL_SUMMARY & 1) see(DL_SUMMARY, 0), see(DL_SUMMARY, 1), see(DL_SUMMARY, 2);
    });
}

TEST_CASE("operands of 16 bits") {
    each_rule([](dl_rule const& r) {
        for (std::uint32_t scalar : {DL_BF16, DL_F16}) {
            REQUIRE(r.scalars >> scalar & 1);
            CHECK_FALSE(r.state_scalars >> scalar & 1);
            // Values that both scalars hold exactly, so that the results are those of float32, rounded.
            Call whole(r, usual(5)), half(r, usual(5));
            std::deque<std::vector<std::uint16_t>> room;
            auto const narrow = [&](float x) {
                if (scalar == DL_BF16) return std::uint16_t(__builtin_bit_cast(std::uint32_t, x) >> 16);
                return __builtin_bit_cast(std::uint16_t, _Float16(x));
            };
            auto const widen = [&](std::uint16_t x) {
                if (scalar == DL_BF16) return __builtin_bit_cast(float, std::uint32_t(x) << 16);
                return float(__builtin_bit_cast(_Float16, x));
            };
            for (int what = 0; what < 4; ++what) {
                std::vector<dl_tensor*> all;
                half.each(what, [&](dl_tensor& t, dl_operand const&) { all.push_back(&t); });
                std::size_t at = 0;
                whole.each(what, [&](dl_tensor& t, dl_operand const& o) {
                    auto values = whole.values(t);
                    if (what < 2)
                        for (float& x : values) x = std::round(x * 64) / 64;
                    std::copy(values.begin(), values.end(), whole.data(t));
                    dl_tensor& to = *all[at++];
                    if (o.kind == DL_STATE) return void(std::copy(values.begin(), values.end(), half.data(to)));
                    auto& memory = room.emplace_back();
                    for (float x : values) memory.push_back(narrow(x));
                    to.data = memory.data(), to.scalar = scalar;
                });
            }
            for (bool backward : {false, true}) {
                run(whole, backward), run(half, backward);
                for (std::size_t o = 0; o < whole.outputs[backward].size(); ++o) {
                    auto const& t = *half.outputs[backward][o].tensor;
                    auto const want = whole.values(*whole.outputs[backward][o].tensor);
                    if (t.scalar != scalar) { // a state
                        CHECK(half.values(t) == want);
                        continue;
                    }
                    for (std::size_t e = 0; e < want.size(); ++e) {
                        float const got = widen(static_cast<std::uint16_t const*>(t.data)[e]);
                        // A shared head's gradient is rounded once for each that shares it.
                        REQUIRE(std::fabs(got - want[e]) <= 0.02f * (1 + std::fabs(want[e])));
                    }
                }
            }
        }
    });
}

TEST_CASE("the path that ran can be asked for, in each thread") {
    dl_rule const& r = *dl_rule_named("gated_delta");
    Call c(r, usual(37));
    c.call.form = DL_CHUNKED, c.call.chunk = 8, c.call.threads = 3;
    run(c, true);
    CHECK(last_path().find("chunked backward ") == 0);
    for (char const* word : {"f32", "chunk 8", "schedule", "4 units on 3 lanes"}) {
        INFO(last_path() << " lacks " << word);
        CHECK(last_path().find(word) != std::string::npos);
    }
    std::string other = "?";
    std::thread([&] {
        other = dl_last_path();
        Call one(r, usual(1));
        one.run(false);
        other += dl_last_path();
    }).join();
    CHECK(other.find("step forward ") == 0);
    CHECK(last_path().find("chunked backward ") == 0);
    c.call.tokens = -1;
    CHECK(dl_forward(&r, &c.call, &c.status) != 0);
    CHECK(last_path().empty()); // nothing ran
}

TEST_CASE("a library describes itself") {
    REQUIRE(dl_rule_count() == 5);
    for (std::uint32_t i = 0; i < dl_rule_count(); ++i) {
        dl_rule const& r = *dl_rule_at(i);
        CHECK(dl_rule_named(r.name) == &r);
        CHECK(r.struct_size == sizeof r);
        CHECK(r.abi_version == DL_ABI_VERSION);
        CHECK(r.directions == 3);
        CHECK((r.forms >> DL_STEP & r.forms >> DL_RECURRENT & r.forms >> DL_CHUNKED & r.forms >> DL_PARALLEL & 1) == 1);
        CHECK((r.forms >> DL_SUMMARY & 1) == (r.missing[DL_SUMMARY] == nullptr));
    }
    dl_rule const& r = *dl_rule_named("all_kinds");
    CHECK(std::string(r.equation).find("previous(q)") != std::string::npos);
    auto const see = [&](char const* name, dl_kind kind, dl_domain domain, dl_varies varies,
                         std::vector<std::string> const& dims) {
        INFO(name);
        std::uint32_t i = 0;
        while (i < r.operand_count && std::string(r.operands[i].name) != name) ++i;
        REQUIRE(i < r.operand_count);
        dl_operand const& o = r.operands[i];
        CHECK(o.struct_size == sizeof o);
        CHECK(o.kind == std::uint32_t(kind));
        CHECK(o.domain == std::uint32_t(domain));
        CHECK(o.varies == std::uint32_t(varies));
        CHECK(std::vector<std::string>(o.dims, o.dims + o.rank) == dims);
    };
    see("S", DL_STATE, DL_REAL, DL_PER_SEQUENCE, {"dv", "dk"});
    see("n", DL_STATE, DL_REAL, DL_PER_SEQUENCE, {"dk"});
    see("q_previous", DL_STATE, DL_REAL, DL_PER_SEQUENCE, {"dk"});
    see("w", DL_GATE, DL_LOG, DL_PER_TOKEN, {"dk"});
    see("r", DL_GATE, DL_LINEAR, DL_PER_TOKEN, {});
    see("beta", DL_INPUT, DL_REAL, DL_PER_TOKEN, {"2"});
    see("k", DL_INPUT, DL_REAL, DL_PER_TOKEN, {"2", "dk"});
    see("u", DL_PARAMETER, DL_REAL, DL_PER_HEAD, {"dk"});
    see("o", DL_OUTPUT, DL_REAL, DL_PER_TOKEN, {"dv"});
    CHECK(std::string(r.operands[r.operand_count - 1].name) == "q_previous"); // hidden states last
}
