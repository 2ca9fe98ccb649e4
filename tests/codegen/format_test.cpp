#include "codegen/emit/clang_format.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <sstream>

using deltaloom::codegen::format;

namespace {

std::string const kernel = R"(#pragma once
// gated, step forward
//     S <<= alpha * S + v * T(k)
#include <deltaloom/runtime/ops/ops.hpp>
#include <algorithm>
namespace memory::gated { inline namespace DELTALOOM_ISA {
using namespace deltaloom::runtime;
template<class K> void step_forward(sequence const & s, scratch<K> room)
{
index const dk=s.dim[0],dv=s.dim[1];
   auto const S =room.matrix( dv,dk ); // the state
for(index i=0;i<dv;++i) for(index j=0;j<dk;++j) S(i,j)=alpha(0,0)*S(i,j)+v(0,i)*k(0,j)+static_cast<K>(some_long_function_name(S(i,j),alpha(0,0),k(0,j)))*another_factor(i,j); // S = alpha S + v k^T, element by element
static constexpr event_rows events{{event_rows::kind::tokens,event_rows::kind::start,event_rows::kind::end},{0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}};


if (x) { return; }
}
} }
)";

}

TEST_CASE("Formatting is idempotent and says the same code") {
    auto const once = format(kernel);
    CHECK(once != kernel);
    CHECK(format(once) == once);
    auto const letters = [](std::string const& text) { // without comments, in any order: includes are sorted
        std::string kept;
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) kept += line.substr(0, line.find("//"));
        std::erase(kept, ' ');
        std::sort(kept.begin(), kept.end());
        return kept;
    };
    CHECK(letters(once) == letters(kernel));
    std::istringstream lines(once);
    for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 120);
    CHECK(once.find("template<class K> void step_forward(sequence const& s, scratch<K> room) {\n    index const dk = "
                    "s.dim[0], dv = s.dim[1];\n") != std::string::npos);
    CHECK(once.find("#include <algorithm>\n#include <deltaloom/runtime/ops/ops.hpp>\n") != std::string::npos);
}

TEST_CASE("Odd text comes back: nothing, no line break, unbalanced, CUDA") {
    CHECK(format("").empty());
    for (std::string const text :
         {"int x;", "}}}} {{", "template<",
          "k<<<grid, block>>>(x);\n__global__ void f() { asm volatile(\"mov\" : \"=r\"(x)); }\n"})
        CHECK(format(format(text)) == format(text));
}

TEST_CASE("Emitted text has the style of this repository") {
    std::istringstream lines(deltaloom::test::text_of(DELTALOOM_TEST_ROOT "/.clang-format"));
    std::string own;
    for (std::string line; std::getline(lines, line);)
        if (!line.starts_with("#")) own += line + "\n";
    CHECK(deltaloom::codegen::format_style() == own);
}
