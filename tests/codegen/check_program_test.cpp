// Level program: right Programs pass, wrong ones are reported with the place where they differ.
#include "codegen/check/program_level.hpp"
#include "tests/support/catalogue.hpp"
#include "tests/support/random_rules.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace deltaloom::codegen;
using deltaloom::test::parse_rule;

namespace {

Derived derived(Declaration const& rule) {
    auto checked = check(rule);
    if (auto const* faults = std::get_if<std::vector<Diagnostic>>(&checked))
        FAIL(rule.name << ": " << faults->at(0).text);
    return derive(std::get<TypedRule>(std::move(checked)));
}

void expect_pass(Declaration const& rule, ProgramLevel const& level) {
    auto const results = check_program(rule, derived(rule), level);
    CHECK(results.size() >= 4);
    for (auto const& r : results) {
        INFO(equation(rule) << "\nseed " << level.seed << ": " << name(r.form) << " " << name(r.direction) << " "
                            << r.name << " T=" << r.tokens << " chunk " << r.chunk << " " << r.index << " got " << r.got
                            << " want " << r.want);
        CHECK(r.pass);
        CHECK(*r.bound_log2 <= -40);
        CHECK(*r.degree >= 1);
    }
}

// The results after one program, found by form, direction and variant, has been changed.
template<class F>
std::vector<Result> changed(Declaration const& rule, Form form, Direction direction, bool split, F change) {
    Derived d = derived(rule);
    auto const at = std::find_if(d.programs.begin(), d.programs.end(), [&](Program const& p) {
        return p.form == form && p.direction == direction && p.split == split;
    });
    REQUIRE(at != d.programs.end());
    change(*at);
    return check_program(rule, d);
}
bool fails(std::vector<Result> const& results, Form form, Direction direction, std::string const& name) {
    for (auto const& r : results)
        if (r.form == form && r.direction == direction && r.name == name) return !r.pass;
    return false;
}
// Multiplies one of a body's results by a number, at its first entry or everywhere.
void scale_result(Phase& phase, std::string const& result, Rational const& by, std::vector<std::string> const& dims) {
    Builder b(dims, phase.body);
    for (auto& [name, node] : b.body.results)
        if (name == result) node = b.scale(by, node);
    phase.body = b.body;
}

Declaration const gated_delta =
    parse_rule("gated_delta", "S <<= alpha * (S - beta * (S * k) * T(k)) + beta * v * T(k), o <<= S * q");

} // namespace

TEST_CASE("the catalogue passes") {
    for (auto const& rule : deltaloom::test::catalogue())
        expect_pass(parse_rule(rule.name, rule.text, rule.operands), {});
}

TEST_CASE("random rules pass") {
    std::uint64_t const seed = 77; // replay: deltaloom random --seed 77 --count 500
    for (auto const& rule : deltaloom::test::random_declarations(seed, 500, false)) expect_pass(rule, {.seed = seed});
}

TEST_CASE("a degree beyond 64 bits shortens the sequence") {
    auto const rule = parse_rule("powers_of_powers", "repeat<8>(z <<= z % z % z % z), y <<= z", "OUTPUT(y, dk)");
    expect_pass(rule, {});
    for (auto const& r : check_program(rule, derived(rule))) CHECK(r.tokens == 1);
}

TEST_CASE("every form and variant is there, and --form chooses") {
    auto const d = derived(gated_delta);
    std::set<std::string> seen;
    for (auto const& r : check_program(gated_delta, d)) {
        seen.insert(std::string(name(r.form)) + " " + name(r.direction) + " " + r.name);
        CHECK(r.level == "program");
        CHECK(r.rule == "gated_delta");
        CHECK(r.trials == 3);
        CHECK(r.dims.size() == 2);
    }
    std::set<std::string> wanted;
    for (char const* form : {"step declaration", "recurrent declaration", "chunked declaration", "chunked padded",
                             "chunked split", "parallel declaration", "summary summary"})
        for (char const* direction : {"forward", "backward"}) {
            std::string const f = form;
            wanted.insert(f.substr(0, f.find(' ')) + " " + direction + f.substr(f.find(' ')));
        }
    CHECK(seen == wanted);
    for (auto const& r : check_program(gated_delta, d, {.forms = {Form::recurrent}})) CHECK(r.form == Form::recurrent);
}

TEST_CASE("a flipped sign, a dropped decay, a forgotten gradient differ") {
    auto const dims = derived(gated_delta).rule.dims;
    for (Form const form : {Form::recurrent, Form::chunked, Form::parallel}) {
        auto const flipped = changed(gated_delta, form, Direction::forward, false,
                                     [&](Program& p) { scale_result(p.phases[0], "o", -1, dims); });
        CHECK(fails(flipped, form, Direction::forward, "declaration"));
        CHECK_FALSE(fails(flipped, form, Direction::backward, "declaration"));
        for (char const* gradient : {"d_k", "d_beta", "d_alpha", "d_S", "d_q", "d_v"}) {
            INFO(gradient);
            auto const wrong = changed(gated_delta, form, Direction::backward, false,
                                       [&](Program& p) { scale_result(p.phases.back(), gradient, 2, dims); });
            CHECK(fails(wrong, form, Direction::backward, "declaration"));
        }
    }
    // The decay from every write to every read: its node becomes the mask of the same span.
    auto const undecayed = changed(gated_delta, Form::chunked, Direction::forward, false, [](Program& p) {
        for (auto& n : p.phases[0].body.nodes)
            if (n.op == Op::decay) n.span.decaying.clear();
    });
    CHECK(fails(undecayed, Form::chunked, Direction::forward, "declaration"));
    // States of the wrong point in the backward.
    auto const stale = changed(gated_delta, Form::chunked, Direction::backward, false,
                               [&](Program& p) { scale_result(p.phases[0], "S", 2, dims); });
    CHECK(fails(stale, Form::chunked, Direction::backward, "declaration"));
    for (auto const& [result, direction] :
         {std::pair{"S.plus", Direction::forward}, {"S.right", Direction::forward}, {"d_S", Direction::backward}}) {
        auto const wrong = changed(gated_delta, Form::summary, direction, false,
                                   [&](Program& p) { scale_result(p.phases.back(), result, 2, dims); });
        CHECK(fails(wrong, Form::summary, direction, "summary"));
    }
    auto const split = changed(gated_delta, Form::chunked, Direction::forward, true,
                               [&](Program& p) { scale_result(p.phases[0], "S.w", -1, dims); });
    CHECK(fails(split, Form::chunked, Direction::forward, "split"));
}

// The body with one node's value doubled for all who use it; of a log node: squared as a number.
static Body doubled(Body const& body, NodeId at, std::vector<std::string> const& dims) {
    Body head = body;
    head.nodes.resize(std::size_t(at) + 1);
    head.results.clear();
    Builder b(dims, head);
    NodeId const twice = b[at].log ? b.addlog(at, at) : b.scale(2, at);
    auto const inserted = NodeId(b.body.nodes.size()) - (at + 1);
    auto const moved = [&](NodeId i) { return i < at ? i : i == at ? twice : i + inserted; };
    Body result = b.body;
    for (std::size_t i = std::size_t(at) + 1; i < body.nodes.size(); ++i) {
        result.nodes.push_back(body.nodes[i]);
        for (NodeId& a : result.nodes.back().args) a = moved(a);
    }
    for (auto const& [name, i] : body.results) result.results.emplace_back(name, moved(i));
    return result;
}

TEST_CASE("a fault in any one node is caught") {
    // Rules none of whose values is multiplied by a structural zero, where doubling it would change nothing.
    std::set<std::string> const rules{"rwkv6",     "gated_delta_log", "kda",        "delta_product2",
                                      "gated_oja", "mlstm_sig",       "two_states", "value_and_key_decay_erase"};
    int tried = 0, used = 0;
    for (auto const& text : deltaloom::test::catalogue()) {
        if (!rules.count(text.name)) continue;
        ++used;
        auto const rule = parse_rule(text.name, text.text, text.operands);
        Derived const original = derived(rule);
        for (Program const& program : original.programs) {
            if (program.form == Form::step || program.form == Form::parallel)
                continue; // the bodies of recurrent and chunked
            std::size_t const phase = program.phases.size() - 1;
            Body const& body = program.phases[phase].body;
            for (NodeId i = 0; i < NodeId(body.nodes.size()); ++i) {
                Node const& n = body.nodes[i];
                bool const nothing = n.op == Op::logone ||
                                     (n.op == Op::constant && (n.number == 0 || n.shape.rows == Extent::tokens(0)));
                if (nothing) continue;
                Derived wrong = original;
                wrong.programs = {program};
                wrong.programs[0].phases[phase].body = doubled(body, i, original.rule.dims);
                auto const results = check_program(rule, wrong);
                ++tried;
                INFO(text.name << " " << name(program.form) << " " << name(program.direction) << " node " << i << " "
                               << name(n.op) << " " << n.name << " " << n.hint);
                CHECK(std::any_of(results.begin(), results.end(), [](Result const& r) { return !r.pass; }));
            }
        }
    }
    CHECK(used == int(rules.size()));
    CHECK(tried > 1000);
}

TEST_CASE("a failure names the shortest sequence and the entry") {
    auto const dims = derived(gated_delta).rule.dims;
    // Right for one token, wrong from the second on: the state that the next token takes.
    auto const results = changed(gated_delta, Form::recurrent, Direction::forward, false,
                                 [&](Program& p) { scale_result(p.phases[0], "S", 2, dims); });
    auto const& r = *std::find_if(results.begin(), results.end(), [](Result const& x) { return !x.pass; });
    CHECK(r.tokens == 1);
    CHECK(r.index == "S[0][0]");
    CHECK_FALSE(r.got == r.want);
    auto const gradients = changed(gated_delta, Form::recurrent, Direction::backward, false,
                                   [&](Program& p) { scale_result(p.phases.back(), "d_k", 3, dims); });
    auto const& g = *std::find_if(gradients.begin(), gradients.end(), [](Result const& x) { return !x.pass; });
    CHECK(g.tokens == 1);
    CHECK(g.index == "d_k[0][0]");
    // A program that cannot even run is a failure with its reason, not an exception.
    auto const broken = changed(gated_delta, Form::recurrent, Direction::forward, false,
                                [&](Program& p) { p.phases[0].carries = {"nothing"}; });
    CHECK(fails(broken, Form::recurrent, Direction::forward, "declaration"));
}
