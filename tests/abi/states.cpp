// States of a call: absent, in place, of packed sequences, transposed, kept on the way. For every rule of the library.
#include "comparing.hpp"

using namespace deltaloom::test;

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
        // Of none, however many are asked for.
        Call none(r, usual(7)), without(r, usual(7));
        none.make_snapshots(3);
        for (std::size_t s = 0; s < states(r); ++s) none.snapshots[s].data = nullptr;
        none.call.snapshots = std::int64_t(1) << 60;
        run(none, false), run(without, false);
        for (std::size_t s = 0; s < states(r); ++s)
            CHECK(none.values(none.state_out[s]) == without.values(without.state_out[s]));
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
