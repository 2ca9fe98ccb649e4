#include "codegen/rule/algebra.hpp"
#include "codegen/rule/recurrence.hpp"

namespace deltaloom::codegen {

// Equal for equal maths, however a token is split into statements.
std::optional<std::string> token_map(TypedRule const& rule) {
    try {
        std::vector<Value> states(rule.operands.size());
        for (OperandId const id : rule.with_role(Role::state))
            states[id] = state({rule, rule.operands[id].where, ""}, id, 0);
        std::map<std::string, Value> after;
        for (auto const& s : rule.statements) {
            Value v = symbolic(rule, s.value, states);
            after[rule.operands[s.target].name] = v;
            if (rule.operands[s.target].role == Role::state) states[s.target] = std::move(v);
        }
        std::string out;
        for (auto const& [name, v] : after) out += name + " <<= " + print(rule, v) + "\n";
        return out;
    } catch (Refused const&) {
        return std::nullopt;
    }
}

} // namespace deltaloom::codegen
