// What the mutation run asks beyond the tests: the emitted text of every rule of the catalogue, and level text of one
// rule, without a header.
#include "codegen/check/run.hpp"
#include "codegen/emit/emit_cpp.hpp"
#include "tests/support/catalogue.hpp"
#include "tests/support/parse.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <iostream>

using namespace deltaloom;
using namespace deltaloom::codegen;

namespace {

codegen::LoadedRule loaded(test::CatalogueRule const& r) {
    auto declaration = test::parse_rule(r.name, r.text, r.operands);
    declaration.qualified.clear(); // no header holds it: the walk over its tree is the oracle
    auto typed = std::get<TypedRule>(check(declaration));
    return {std::move(declaration), derive(std::move(typed))};
}

} // namespace

// A line "text NAME HASH SIZE CHUNKED" for each rule.
TEST_CASE("texts", "[.]") {
    for (auto const& r : test::catalogue()) {
        auto const rule = loaded(r);
        std::string all;
        for (auto const& p : rule.derived.programs)
            if (has_kernel(p)) all += functions_text(schedule(rule.derived.rule, p));
        std::cout << "text " << r.name << " " << std::hash<std::string>()(all) << " " << all.size() << " "
                  << !rule.derived.missing << std::endl;
    }
}

// DELTALOOM_RULE: names of the catalogue, with commas between.
TEST_CASE("level text", "[.]") {
    auto const* const named = std::getenv("DELTALOOM_RULE");
    REQUIRE(named);
    auto const wanted = "," + std::string(named) + ",";
    Loaded set;
    for (auto const& r : test::catalogue())
        if (wanted.find("," + r.name + ",") != wanted.npos) set.rules.push_back(loaded(r));
    REQUIRE(!set.rules.empty());
    test::ScratchFolder folder;
    CheckOptions options;
    options.program = options.number = false;
    options.toolchain = {
        DELTALOOM_TEST_CXX,
        {"-std=c++20", "-I" DELTALOOM_TEST_ROOT "/runtime/include", "-I" DELTALOOM_TEST_ROOT "/codegen/check/include"},
        folder.path,
        false,
        1};
    options.silence_seconds = 20;
    std::vector<std::string> const headers(set.rules.size());
    for (auto const& results : check_rules(set, headers, options, [](int, int, std::string const&) {}))
        for (auto const& r : results) {
            INFO(r.rule << " " << name(r.form) << " " << name(r.direction) << " T=" << r.tokens << " chunk " << r.chunk
                        << " " << r.index << " got " << r.got << " want " << r.want);
            CHECK(r.pass);
        }
}
