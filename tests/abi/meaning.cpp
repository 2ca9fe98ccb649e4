// What the fields of a call mean: absent tensors, shared heads; strides, scalars, chunks. For every rule of the
// library.
#include "comparing.hpp"

#include <deltaloom/runtime/abi/short_floats.hpp>
#include <thread>

using namespace deltaloom::test;
using deltaloom::bfloat16, deltaloom::float16;

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
            // Values that both scalars hold exactly, so that the results are those of float32, rounded once.
            Call whole(r, usual(5)), half(r, usual(5));
            std::deque<std::vector<std::uint16_t>> room;
            auto const narrow = [&](float x) {
                return scalar == DL_BF16 ? bfloat16::nearest(x).bits : float16::nearest(x).bits;
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
                    for (std::size_t e = 0; e < want.size(); ++e)
                        REQUIRE(static_cast<std::uint16_t const*>(t.data)[e] == narrow(want[e]));
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
