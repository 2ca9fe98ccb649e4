// evaluate_rules RULE < POINT: a rule of the catalogue, evaluated from its own declaration in double, token by token.
// POINT: the number of tokens, then for each operand its name, how many values it has (tokens, or 1 for a state or a
// parameter), rows, columns and the numbers. Prints every output's numbers by token, then every final state's.
#include <deltaloom/evaluate.hpp>
#include <deltaloom/rules.hpp>
#include <iomanip>
#include <iostream>
#include <map>
#include <string>
#include <vector>

namespace {
using Environment = deltaloom::oracle::named_environment<double>;
using Matrix = Environment::matrix;

template<class Rule> void run(Rule const& rule) {
    int tokens = 0;
    std::cin >> tokens;
    std::map<std::string, std::vector<Matrix>> given;
    int values, rows, columns;
    for (std::string name; std::cin >> name >> values >> rows >> columns;)
        for (int i = 0; i < values; ++i) {
            Matrix m(rows, columns);
            for (double& x : m.e) std::cin >> x;
            given[name].push_back(std::move(m));
        }
    Environment at;
    auto const print = [&](char const* name) {
        auto const found = at.values.find(name);
        if (found == at.values.end()) return;
        for (double x : found->second.e) std::cout << ' ' << x;
        std::cout << '\n';
    };
    for (auto const& [name, all] : given)
        if (all.size() == 1) at.values[name] = all[0];
    std::cout << std::setprecision(17);
    for (int t = 0; t < tokens; ++t) {
        for (auto const& [name, all] : given)
            if (all.size() > 1) at.values[name] = all[std::size_t(t)];
        at = evaluate(rule, std::move(at));
        print("o");
    }
    print("S");
}

} // namespace

int main(int argc, char** argv) {
    using namespace deltaloom::rules;
    std::string const wanted = argc > 1 ? argv[1] : "";
    bool found = false;
    auto const offer = [&](char const* name, auto const& rule) {
        if (wanted == name) run(rule), found = true;
    };
    offer("sum", deltaloom::rules::sum);
    offer("delta", delta);
    offer("gated_delta", gated_delta);
    offer("kda", kda);
    offer("gla", gla);
    offer("simple_gla", simple_gla);
    offer("dplr", dplr);
    offer("iplr", iplr);
    offer("gated_delta2", gated_delta2);
    offer("comba", comba);
    offer("comba_decayed", comba_decayed);
    if (!found) std::cerr << "evaluate_rules: no rule '" << wanted << "'\n";
    return found ? 0 : 1;
}
