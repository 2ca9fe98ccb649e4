// The statements of a rule as formulas. Helper functions of a header repeat what they are given: a long statement names
// what it says more than once.
#include "codegen/explain/chunk_names.hpp"

#include <algorithm>

namespace deltaloom::codegen {
namespace {

constexpr std::size_t long_statement = 60; // nodes
constexpr std::size_t worth_a_name = 3;

struct Shared {
    TypedRule const& rule;
    std::map<ExprId, std::string> keys = {}; // equal for equal sub-expressions
    std::map<std::string, std::size_t> sizes = {};
    std::map<std::string, std::vector<ExprId>> nodes = {};
    std::vector<std::string> order = {}; // inner ones first

    std::string const& see(ExprId id) {
        auto const& e = rule.nodes[std::size_t(id)];
        std::vector<std::string> arguments;
        std::size_t size = 1;
        for (ExprId const a : e.arguments) {
            arguments.push_back(see(a));
            size += sizes.at(arguments.back());
        }
        auto text = std::to_string(int(e.kind)) + e.function + " " + std::to_string(e.operand) + "." +
                    std::to_string(e.step) + " " + print(e.number) + " " + std::to_string(e.shape.rows) + "," +
                    std::to_string(e.shape.cols) + "(";
        for (auto const& a : arguments) text += "#" + std::to_string(number_of(a));
        text += ")";
        if (sizes.emplace(text, size).second) {
            order.push_back(text);
        }
        nodes[text].push_back(id);
        return keys[id] = text;
    }
    std::size_t number_of(std::string const& key) const {
        return std::size_t(std::find(order.begin(), order.end(), key) - order.begin());
    }
    ExprNode const& node(std::string const& key) const { return rule.nodes[std::size_t(nodes.at(key)[0])]; }
    // Written with what it is applied to: -x, x^T, one over x.
    bool transparent(std::string const& key) const {
        auto const& e = node(key);
        return e.kind == ExprKind::transpose || e.kind == ExprKind::negate || e.function == "inv";
    }
    // What is used in several places, inner ones first.
    std::vector<std::string> worth_naming() const {
        std::map<std::string, int> uses;
        for (auto key = order.rbegin(); key != order.rend(); ++key) {
            int const times = transparent(*key) ? std::max(uses[*key], 1) : 1;
            for (ExprId const a : node(*key).arguments) uses[keys.at(a)] += times;
        }
        std::vector<std::string> all;
        for (auto const& key : order)
            if (!transparent(key) && sizes.at(key) >= worth_a_name && uses[key] > 1) all.push_back(key);
        return all;
    }
};

} // namespace

std::vector<Equation> statement_lines(TypedRule const& rule) {
    std::vector<Equation> all;
    FreshNames fresh;
    for (auto const& o : rule.operands) fresh.used.insert(o.name);
    int count = 0;
    for (auto const& s : rule.statements) {
        Shared shared{rule};
        shared.see(s.value);
        NodeNames names;
        if (shared.sizes.at(shared.keys.at(s.value)) >= long_statement)
            for (auto const& key : shared.worth_naming()) {
                auto const value = formula(rule, shared.nodes.at(key)[0], names);
                auto const name = fresh({"x" + std::to_string(++count)});
                for (ExprId const id : shared.nodes.at(key)) names.emplace(id, name);
                all.push_back({name, "=", value});
            }
        bool const state = rule.operands[std::size_t(s.target)].role == Role::state;
        all.push_back({operand_formula(rule, s.target), state ? "<-" : "=", formula(rule, s.value, names)});
    }
    return all;
}

} // namespace deltaloom::codegen
