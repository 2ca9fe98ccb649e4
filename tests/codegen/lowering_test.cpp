// Every form of every rule of the catalogue, forward and backward, equals the step form run token by token: exactly,
// over the field.
#include "codegen/program/program.hpp"
#include "tests/codegen/run_program.hpp"
#include "tests/support/catalogue.hpp"
#include "tests/support/parse.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>

using namespace deltaloom::codegen;
using namespace deltaloom::test;

namespace {

TypedRule typed(CatalogueRule const& rule) {
    auto checked = check(parse_rule(rule.name, rule.text, rule.operands));
    if (auto const* faults = std::get_if<std::vector<Diagnostic>>(&checked))
        FAIL(rule.name << ": " << faults->at(0).text);
    return std::get<TypedRule>(std::move(checked));
}

CatalogueRule const& named(std::string const& name) {
    auto const& all = catalogue();
    return *std::find_if(all.begin(), all.end(), [&](CatalogueRule const& r) { return r.name == name; });
}

Program const* find(std::vector<Program> const& all, Form form, Direction direction, bool split = false) {
    auto const same = [&](Program const& p) { return p.form == form && p.direction == direction && p.split == split; };
    auto const at = std::find_if(all.begin(), all.end(), same);
    return at == all.end() ? nullptr : &*at;
}

// Extents that all differ, so that no transposed matrix fits by chance.
std::vector<int> different_extents(TypedRule const& rule, std::mt19937_64& random) {
    std::vector<int> extents(rule.dims.size() + 2);
    std::iota(extents.begin(), extents.end(), 1);
    std::shuffle(extents.begin(), extents.end(), random);
    extents.resize(rule.dims.size());
    return extents;
}

void same(Values const& got, Values const& wanted, std::string const& what) {
    for (auto const& [name, x] : wanted) {
        INFO(what << ": " << name);
        REQUIRE(got.count(name) == 1);
        REQUIRE(got.at(name).rows == x.rows);
        REQUIRE(got.at(name).cols == x.cols);
        REQUIRE(got.at(name).e == x.e);
    }
}

struct Reference {
    Values forward, backward;
    std::vector<Values> states;
};

Reference reference(Derived const& d, Sequence const& s) {
    return {run(d.rule, *find(d.programs, Form::step, Direction::forward), s, 1),
            run(d.rule, *find(d.programs, Form::step, Direction::backward), s, 1), states_between(d.rule, s)};
}

// With padding: of the same bodies, lowered for it.
std::vector<Program> padded(Derived const& d) {
    auto const body = lower_chunk(d.rule, *d.recurrence, true);
    std::vector<Program> all;
    for (auto direction : {Direction::forward, Direction::backward}) {
        auto p = *find(d.programs, Form::chunked, direction);
        auto const whole = differentiate(body, d.rule.dims);
        for (auto& phase : p.phases) {
            std::vector<std::string> results;
            for (auto const& [name, node] : phase.body.results) results.push_back(name);
            phase.body = pruned(whole, results);
        }
        all.push_back(std::move(p));
    }
    return all;
}

void summaries(Derived const& d, Sequence const& s, Reference const& r, int chunk) {
    auto const* forward = find(d.programs, Form::summary, Direction::forward);
    if (!forward) return;
    auto from_identity = s, nothing_arrives = s;
    auto const& carries = forward->phases[0].carries;
    auto const is_right = [&](std::string const& state) {
        return std::find(carries.begin(), carries.end(), state + ".right") != carries.end();
    };
    for (auto const& [name, x] : s.states) {
        auto const side = is_right(name) ? x.cols : x.rows;
        Matrix factor(side, side);
        for (int i = 0; i < side; ++i) factor(i, i) = field(1.0);
        from_identity.states[name + (is_right(name) ? ".right" : ".left")] = factor;
        from_identity.states[name + ".plus"] = Matrix(x.rows, x.cols);
        nothing_arrives.state_cotangents["d_" + name] = Matrix(x.rows, x.cols);
    }
    auto const maps = run(d.rule, *forward, from_identity, chunk);
    auto const owed = run(d.rule, *find(d.programs, Form::summary, Direction::backward), nothing_arrives, chunk);
    for (auto const& [name, first] : s.states) {
        bool const right = is_right(name);
        auto const& factor = maps.at(name + (right ? ".right" : ".left"));
        auto const after = sum(right ? product(first, factor) : product(factor, first), maps.at(name + ".plus"));
        REQUIRE(after == r.states.back().at(name));
        auto const& arriving = s.state_cotangents.at("d_" + name);
        auto const carried = right ? product(arriving, transposed(factor)) : product(transposed(factor), arriving);
        REQUIRE(sum(carried, owed.at("d_" + name)) == r.backward.at("d_" + name));
    }
}

void prove(Derived const& d, Sequence const& s) {
    auto const r = reference(d, s);
    auto const equal = [&](Program const& p, int chunk, bool pad) {
        auto const what = std::string(name(p.form)) + " " + name(p.direction) + (p.split ? " split" : "") +
                          (pad ? " padded" : "") + ", chunk " + std::to_string(chunk);
        same(run(d.rule, p, s, chunk, pad), p.direction == Direction::forward ? r.forward : r.backward, what);
    };
    for (auto const& p : d.programs) {
        if (p.form == Form::summary) continue;
        if (p.form != Form::chunked)
            equal(p, s.tokens, false);
        else
            for (int chunk : {1, 2, 3, 5}) equal(p, chunk, false);
    }
    for (auto const& p : padded(d))
        for (int chunk : {3, 5}) equal(p, chunk, true);
    for (int chunk : {1, 3}) summaries(d, s, r, chunk);
}

} // namespace

TEST_CASE("every form equals the step form") {
    std::mt19937_64 random(7);
    for (auto const& rule : catalogue()) {
        if (!rule.reason.empty()) continue;
        auto const d = derive(typed(rule));
        INFO(rule.name << ": " << (d.missing ? d.missing->text : ""));
        REQUIRE(d.recurrence);
        REQUIRE(find(d.programs, Form::chunked, Direction::forward));
        for (auto const& [tokens, resets] : {std::pair{7, 0.0}, {6, 0.3}, {1, 0.0}}) {
            INFO("tokens " << tokens << ", resets " << resets);
            prove(d, draw(d.rule, different_extents(d.rule, random), tokens, resets, random));
        }
        prove(d, draw(d.rule, std::vector<int>(d.rule.dims.size(), 2), 4, 0.3, random));
        prove(d, draw(d.rule, std::vector<int>(d.rule.dims.size(), 1), 4, 0.3, random));
    }
}

TEST_CASE("a rule without a chunked form keeps its step and recurrent forms") {
    for (auto const& rule : catalogue()) {
        if (rule.reason.empty()) continue;
        INFO(rule.name);
        auto const d = derive(typed(rule));
        REQUIRE(d.missing);
        CHECK_THAT(d.missing->text, Catch::Contains(rule.reason));
        CHECK(d.programs.size() == 4);
        for (auto form : {Form::step, Form::recurrent})
            for (auto direction : {Direction::forward, Direction::backward}) CHECK(find(d.programs, form, direction));
    }
}

TEST_CASE("the step form computes the worked examples") {
    struct Example {
        std::string rule;
        std::map<std::string, std::vector<double>> inputs;
        std::vector<double> state, output, after;
    };
    std::vector<Example> const examples{
        {"gated",
         {{"k", {0, 1}}, {"v", {11, 4}}, {"beta", {0.8}}, {"q", {1, 0}}},
         {5, 3, 2, 7},
         {1, 0.4},
         {1, 9.4, 0.4, 4.6}},
        {"delta",
         {{"k", {1, 0}}, {"v", {11, 4}}, {"beta", {0.8}}, {"q", {0, 1}}},
         {5, 3, 2, 7},
         {3, 7},
         {9.8, 3, 3.6, 7}},
        {"sum", {{"k", {1, 0}}, {"v", {2, 0}}, {"q", {1, 1}}}, {0, 0, 0, 0}, {2, 0}, {2, 0, 0, 0}},
    };
    for (auto const& example : examples) {
        INFO(example.rule);
        auto const rule = typed(named(example.rule));
        Environment<double> env;
        for (auto const& [name, x] : example.inputs) {
            env[name] = Dense<double>(static_cast<int>(x.size()), 1);
            env[name].e = x;
        }
        env["S"] = Dense<double>(2, 2);
        env["S"].e = example.state;
        auto const got = interpret(lower_step(rule), env, Sizes{std::vector<int>(rule.dims.size(), 2), 1, 1});
        for (std::size_t i = 0; i < 2; ++i) CHECK(got.at("o").e[i] == Approx(example.output[i]));
        for (std::size_t i = 0; i < 4; ++i) CHECK(got.at("S").e[i] == Approx(example.after[i]));
    }
}

TEST_CASE("what has a split and a summary") {
    auto const derived = [](char const* name) { return derive(typed(named(name))); };
    auto const split = [](Derived const& d) {
        return find(d.programs, Form::chunked, Direction::forward, true) != nullptr;
    };
    CHECK(split(derived("gated_delta")));
    CHECK(split(derived("kda")));
    CHECK(split(derived("gated_oja")));
    CHECK_FALSE(split(derived("gla")));               // nothing to solve
    CHECK_FALSE(split(derived("value_decay_erase"))); // a system per value channel
    CHECK_FALSE(split(derived("momentum_delta")));    // coupled states
    CHECK_FALSE(split(derived("two_states")));        // one state feeds the other
    for (auto const* name : {"state_in_decay", "state_in_key_decay", "state_in_value_decay", "state_in_erase_key"}) {
        INFO(name);
        CHECK_FALSE(split(derived(name)));
        CHECK(derived(name).no_summary);
    }
    for (auto const* name : {"gated_delta", "gla", "gla_value_gate", "gated_oja", "mlstm_sig", "delta_product2"}) {
        INFO(name);
        CHECK_FALSE(derived(name).no_summary);
    }
    for (auto const* name :
         {"gla_both_gates", "value_decay_erase", "momentum_delta", "two_states", "value_write_read_gates"}) {
        INFO(name);
        CHECK(derived(name).no_summary);
    }
}

TEST_CASE("every operand is an input of the step and of the chunk, used or not, in the order of the rule") {
    for (auto const* name : {"delta_product2", "mamba2", "two_states", "mapped_keys", "read_between"}) {
        INFO(name);
        auto const rule = typed(named(name));
        std::vector<std::string> wanted;
        for (auto const& o : rule.operands)
            if (o.role != Role::output)
                for (int j = 0; j < std::max(1, o.steps); ++j)
                    wanted.push_back(o.steps ? o.name + "." + std::to_string(j) : o.name);
        for (auto const& body : {lower_step(rule), lower_chunk(rule, *derive(rule).recurrence)}) {
            std::vector<std::string> inputs;
            for (auto const& node : body.nodes)
                if (node.op == Op::input) inputs.push_back(node.name);
            CHECK(inputs == wanted);
        }
    }
}
