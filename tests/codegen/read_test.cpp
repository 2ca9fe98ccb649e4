#include "tests/codegen/reading.hpp"
#include "tests/support/parse.hpp"

#include <catch2/catch.hpp>

using namespace deltaloom;
using namespace deltaloom::codegen;
using deltaloom::test::place;
using deltaloom::test::ScratchFolder;
using deltaloom::test::text_at;

namespace {

std::string const garden = R"(#pragma once
#include <deltaloom/dsl.hpp>

namespace garden {
using namespace deltaloom::dsl;
DELTALOOM_DIM(dr);
DELTALOOM_INPUT(e, dk);
DELTALOOM_INPUT(eta);
DELTALOOM_GATE(w, log, dk);
DELTALOOM_GATE(r, linear);
DELTALOOM_PARAMETER(u, dk);
DELTALOOM_PARAMETER(a, log, dv);
DELTALOOM_PARAMETER(c, linear);
DELTALOOM_STATE(M, dv, dr);
DELTALOOM_OUTPUT(y, dr);

inline constexpr auto erase_twice = rule("erase_twice",
    S <<= diag(exp(a)) * S * diag(exp(w)),
    S <<= S - eta * (S * e) * T(e) + beta * (v - S * k) * T(k),
    o <<= S * q);

inline constexpr auto mixed = rule("mixed",
    M <<= r * M + c * v * T(T(M) * v),
    z <<= -z + 0.1 * k - 3 * (u % k) / 1e-7,
    y <<= T(M) * (v + l2norm(v, 0.25)) * dot(z, q));
}
)";

std::vector<std::string> operand_lines(Declaration const& rule) {
    static char const* const roles[]{"state", "input", "gate", "parameter", "output"};
    static char const* const domains[]{"", " linear", " log"};
    std::vector<std::string> lines;
    for (auto const& operand : rule.operands) {
        auto line = std::string(roles[int(operand.role)]) + " " + operand.tag + domains[int(operand.domain)];
        for (auto const& dim : operand.dims) line += " " + dim;
        lines.push_back(line + " @" + place(operand.where));
    }
    return lines;
}

// What stands at every node's place is the node's own head.
void check_places(Tree const& tree) {
    if (tree.kind == TreeKind::number) {
        auto const written = text_at(tree.where);
        auto const by_default = written == "l2norm" || written == "sum_norm"; // eps was left out
        if (!by_default) CHECK(std::stod(written) == tree.number);
    } else
        CHECK(text_at(tree.where) == tree.head);
    for (auto const& argument : tree.arguments) check_places(argument);
}

std::vector<std::string> texts(std::vector<Diagnostic> const& diagnostics) {
    std::vector<std::string> result;
    for (auto const& d : diagnostics) result.push_back(d.text);
    return result;
}

} // namespace

TEST_CASE("A header's rules with operands in order of first use, numbers and places") {
    ScratchFolder folder;
    auto const header = folder.write("garden.hpp", garden);
    auto const result = test::read(header);
    CHECK(texts(result.diagnostics).empty());
    REQUIRE(result.rules.size() == 2);

    auto const& twice = result.rules[0];
    CHECK(twice.name == "erase_twice");
    CHECK(twice.qualified == "::garden::erase_twice");
    CHECK(twice.where == Location{header, 17, 23, 11});
    CHECK(twice.label == Location{header, 17, 42, 13});
    CHECK(operand_lines(twice) == std::vector<std::string>{
                                      "state ::deltaloom::dsl::S_name dv dk @18:5+1",
                                      "parameter ::garden::a_name log dv @18:20+1",
                                      "gate ::garden::w_name log dk @18:39+1",
                                      "input ::garden::eta_name @19:15+3",
                                      "input ::garden::e_name dk @19:26+1",
                                      "input ::deltaloom::dsl::beta_name @19:38+4",
                                      "input ::deltaloom::dsl::v_name dv @19:46+1",
                                      "input ::deltaloom::dsl::k_name dk @19:54+1",
                                      "output ::deltaloom::dsl::o_name dv @20:5+1",
                                      "input ::deltaloom::dsl::q_name dk @20:15+1",
                                  });
    CHECK(
        print(twice) ==
        "(rule \"erase_twice\"\n"
        "  (<<= (state S dv dk) (* (* (diag (exp (parameter a log dv))) (state S dv dk)) (diag (exp (gate w log "
        "dk)))))\n"
        "  (<<= (state S dv dk) (+ (- (state S dv dk) (* (* (input eta) (* (state S dv dk) (input e dk))) (T (input e "
        "dk)))) (* (* (input beta) (- (input v dv) (* (state S dv dk) (input k dk)))) (T (input k dk)))))\n"
        "  (<<= (output o dv) (* (state S dv dk) (input q dk))))\n");
    CHECK(equation(twice) == "S <<= diag(exp(a)) * S * diag(exp(w)), "
                             "S <<= S - eta * (S * e) * T(e) + beta * (v - S * k) * T(k), o <<= S * q");

    auto const& mixed = result.rules[1];
    CHECK(operand_lines(mixed) == std::vector<std::string>{
                                      "state ::garden::M_name dv dr @23:5+1",
                                      "gate ::garden::r_name linear @23:11+1",
                                      "parameter ::garden::c_name linear @23:19+1",
                                      "input ::deltaloom::dsl::v_name dv @23:23+1",
                                      "state ::deltaloom::dsl::z_name dk @24:5+1",
                                      "input ::deltaloom::dsl::k_name dk @24:22+1",
                                      "parameter ::garden::u_name dk @24:31+1",
                                      "output ::garden::y_name dr @25:5+1",
                                      "input ::deltaloom::dsl::q_name dk @25:49+1",
                                  });
    auto const& z = mixed.statements[1].arguments[1]; // -z + 0.1 * k - 3 * (u % k) / 1e-7
    CHECK(equation(mixed) == "M <<= r * M + c * v * T(T(M) * v), z <<= -z + 0.1 * k - 3 * (u % k) / 1e-7, "
                             "y <<= T(M) * (v + l2norm(v, 0.25)) * dot(z, q)");
    auto const& tenth = z.arguments[0].arguments[1].arguments[0];
    CHECK((tenth.number == 0.1 && !tenth.integer && place(tenth.where) == "24:16+3"));
    auto const& three = z.arguments[1].arguments[0].arguments[0];
    CHECK((three.number == 3 && three.integer && place(three.where) == "24:26+1"));
    for (auto const& rule : result.rules)
        for (auto const& statement : rule.statements) check_places(statement);
}

TEST_CASE("An equation is the language: read back it is the same tree") {
    ScratchFolder folder;
    auto const header = folder.write("garden.hpp", garden);
    auto const result = test::read(header);
    for (auto const& rule : result.rules) {
        auto const again =
            test::parse_rule(rule.name, equation(rule),
                             "DIM(dr); INPUT(e, dk); INPUT(eta); GATE(w, log, dk); GATE(r, linear); PARAMETER(u, dk); "
                             "PARAMETER(a, log, dv); PARAMETER(c, linear); STATE(M, dv, dr); OUTPUT(y, dr)");
        CHECK(print(again) == print(rule));
        CHECK(equation(again) == equation(rule));
    }
}

TEST_CASE("Parentheses are where C++ needs them, and nowhere else") {
    for (std::string const text : {
             "S <<= S - (S - S * (k * T(k)))",
             "S <<= S - S - S * k * T(k)",
             "S <<= -(S + v * T(k)) / (2 * beta)",
             "S <<= -S * (alpha / beta) + -2 * v * T(k)",
             "S <<= 1e-7 * S / 1e+30 - 2.5 * (v * T(k) % S)",
             "repeat<2>(S <<= S + v * T(k), S <<= alpha * S)",
             "S <<= (1 - exp(2 * g + g)) * S * -1",
             "S <<= S * diag(max(-0.5, l2norm(k, 1e-6) % k))",
         })
        CHECK(equation(test::parse_rule("r", text + ", o <<= S * q")) == text + ", o <<= S * q");
    CHECK(equation(test::parse_rule("r", "o <<= ((S) * (q)) + ((v) / (100.0))")) == "o <<= S * q + v / 100.0");
}

TEST_CASE("Rules of the header's folder count, those of elsewhere serve expressions only") {
    ScratchFolder folder;
    auto const rule = [](std::string const& space, std::string const& name, std::string const& before) {
        return "#pragma once\n#include <deltaloom/dsl.hpp>\n" + before + "namespace " + space +
               " { using namespace deltaloom::dsl;\ninline constexpr auto " + name + " = rule(\"" + name +
               "\", S <<= S + v * T(k), o <<= S * q); inline constexpr auto erase = (S * k) * T(k);\n"
               "template<int N> inline constexpr auto many = rule(\"many\", S <<= N * S + v * T(k), o <<= S * q); }\n";
    };
    folder.write("elsewhere/library/far.hpp", rule("far", "far_rule", ""));
    folder.write("mine/beside.hpp", rule("beside", "beside_rule", "#include \"top.hpp\"\n"));
    folder.write("mine/below/deep.hpp", rule("deep", "deep_rule", ""));
    auto const top = folder.write(
        "mine/top.hpp",
        rule("top", "top_rule", "#include \"beside.hpp\"\n#include \"below/deep.hpp\"\n#include <library/far.hpp>\n") +
            "namespace top { inline constexpr auto used = rule(\"used\", S <<= S - far::erase, o <<= S * q);\n"
            "inline constexpr auto alias = far::far_rule; inline constexpr auto five = far::many<5>; }\n");
    auto options = test::reader_options();
    options.compiler_flags = {"-I", (folder.path / "elsewhere").string()};
    auto const names = [](ReadResult const& result) {
        std::vector<std::string> list;
        for (auto const& r : result.rules) list.push_back(r.qualified);
        return list;
    };
    auto const result = read(top, options);
    CHECK(texts(result.diagnostics).empty());
    CHECK(names(result) == std::vector<std::string>{"::beside::beside_rule", "::deep::deep_rule", "::far::many<5>",
                                                    "::top::top_rule", "::top::used"});

    // An include folder inside the header's own folder is from elsewhere too.
    options.include_folders.push_back((folder.path / "mine" / "below").string());
    CHECK(names(read(top, options)) ==
          std::vector<std::string>{"::beside::beside_rule", "::far::many<5>", "::top::top_rule", "::top::used"});

    // Every file that was read is named, and a change of any of them is seen.
    auto const has = [&](std::string const& name) {
        return std::any_of(result.files.begin(), result.files.end(),
                           [&](auto const& file) { return file.ends_with(name); });
    };
    CHECK((has("mine/top.hpp") && has("mine/beside.hpp") && has("library/far.hpp") && has("deltaloom/dsl.hpp") &&
           has("boost/hana/tuple.hpp")));
    CHECK(result.preprocessed.size() == 32);
    options.include_folders.pop_back();
    CHECK(read(top, options).preprocessed == result.preprocessed);
    options.compiler_flags.push_back("-DFLAG");
    CHECK(read(top, options).preprocessed != result.preprocessed);
    options.compiler_flags.pop_back();
    folder.write("elsewhere/library/far.hpp", rule("far", "far_rule", "// changed\n"));
    CHECK(read(top, options).preprocessed != result.preprocessed);
}

TEST_CASE("Files keep the name that the user gave them") {
    ScratchFolder folder;
    folder.write("part.hpp",
                 "#pragma once\n#include <deltaloom/dsl.hpp>\nnamespace part { using namespace deltaloom::dsl;\n"
                 "inline constexpr auto one = rule(\"one\", S <<= S + v * T(k), o <<= S * q); }\n");
    folder.write("whole.hpp", "#include \"part.hpp\"\n");
    auto const before = std::filesystem::current_path();
    std::filesystem::current_path(folder.path);
    auto const plain = test::read("whole.hpp"), dotted = test::read("./whole.hpp");
    std::filesystem::create_directory("sub");
    std::filesystem::current_path("sub");
    auto const above = test::read("../whole.hpp");
    std::filesystem::current_path(before);
    REQUIRE((plain.rules.size() == 1 && dotted.rules.size() == 1 && above.rules.size() == 1));
    CHECK(plain.rules[0].where == Location{"part.hpp", 4, 23, 3});
    CHECK(dotted.rules[0].where.file == "./part.hpp");
    CHECK(above.rules[0].where.file == "../part.hpp");
}
