// Emitted text: goldens, the same bytes every time, and every form compiled and run against the recurrent one.
#include "codegen/emit/emit.hpp"
#include "tests/support/catalogue.hpp"
#include "tests/support/forms_program.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/parse.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>

using namespace deltaloom;
using namespace deltaloom::codegen;

namespace {

Derived derived(std::string const& name) {
    for (auto const& r : test::catalogue())
        if (r.name == name) return derive(std::get<TypedRule>(check(test::parse_rule(r.name, r.text, r.operands))));
    throw std::invalid_argument("no rule " + name);
}
// The exit status of the program that compares the forms; -1 if it does not compile.
int compiled_and_run(Derived const& d, std::vector<EmittedFile> const& files) {
    test::ScratchFolder folder;
    for (auto const& f : files) folder.write(f.path, f.text);
    auto const source = folder.write("main.cpp", test::forms_program(d, "memory"));
    auto const program = (folder.path / "main").string();
    auto const compile =
        fmt::format("{0} -std=c++20 -O1 -Wall -Wextra -Werror -I{1} -I{2} -I{2}/runtime/include {3} -o {4}",
                    DELTALOOM_TEST_CXX, folder.path.string(), DELTALOOM_TEST_ROOT, source, program);
    if (std::system(compile.c_str()) != 0) return -1;
    return std::system(program.c_str());
}

} // namespace

TEST_CASE("emitted text is what it was") {
    for (auto const& f : emit_forms(derived("gated_delta"), "memory")) {
        auto const name = f.path.substr(f.path.find('/') + 1);
        if (name.find("step_backward") != name.npos || name.find("recurrent_forward") != name.npos) continue;
        auto const g = test::golden(std::string(DELTALOOM_TEST_ROOT) + "/tests/golden/emit/" + name, f.text);
        INFO(g.difference);
        CHECK(g.same);
    }
}

TEST_CASE("the same input gives the same bytes, without paths or dates") {
    auto const once = emit_forms(derived("kda"), "memory"), again = emit_forms(derived("kda"), "memory");
    REQUIRE(once.size() == 8);
    for (std::size_t i = 0; i < once.size(); ++i) {
        CHECK(once[i].path == again[i].path);
        CHECK(once[i].text == again[i].text);
        CHECK(once[i].text.find(DELTALOOM_TEST_ROOT) == std::string::npos);
        CHECK(once[i].text.find("__DATE__") == std::string::npos);
    }
}

TEST_CASE("statements of an equation") {
    CHECK(statements("S <<= S + f(v, k), o <<= S * q") == std::vector<std::string>{"S <<= S + f(v, k)", "o <<= S * q"});
    CHECK(statements("z <<= z") == std::vector<std::string>{"z <<= z"});
}

TEST_CASE("every form computes what the recurrent one does") {
    // micro-steps and interleaved events; parameters; two states and a decay of channels; an input of the token before;
    // no chunked form
    auto const name = GENERATE("delta_product2", "mamba2", "two_states", "trapezoid_previous", "own_transpose");
    INFO(name);
    auto const d = derived(name);
    CHECK(compiled_and_run(d, emit_forms(d, "memory")) == 0);
}

TEST_CASE("a rule may have the name of an operation") {
    auto const d =
        derive(std::get<TypedRule>(check(test::parse_rule("decay", "S <<= alpha * S + v * T(k), o <<= S * q"))));
    CHECK(compiled_and_run(d, emit_forms(d, "memory")) == 0);
}

TEST_CASE("the comparison of the forms finds a wrong one") {
    auto const d = derived("gated_delta");
    CHECK(compiled_and_run(d, emit_forms(d, "memory")) == 0);
    struct Edit {
        char const *file, *from, *to;
    };
    auto const edit =
        GENERATE(Edit{"chunked_forward", "multiply_add(", "multiply("}, Edit{"chunked_backward", "c - begin", "0"},
                 Edit{"recurrent_backward", "* s.segment, last", "* s.segment - 1, last"});
    INFO(edit.file << ": " << edit.from);
    auto files = emit_forms(d, "memory");
    bool edited = false;
    for (auto& f : files)
        if (auto const at = f.text.find(edit.from); f.path.find(edit.file) != f.path.npos && at != f.text.npos)
            f.text.replace(at, std::string(edit.from).size(), edit.to), edited = true;
    REQUIRE(edited);
    CHECK(compiled_and_run(d, files) > 0);
}
