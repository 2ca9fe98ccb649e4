#pragma once
// What the struct `arguments` of a rule's typed header calls its dimensions and operands.
#include "codegen/rule/typed_rule.hpp"

namespace deltaloom::codegen {

// As the rule says them, with a _ behind where the struct has such a field already.
struct OperandFields {
    std::string value, gradient;                               // of anything but a state
    std::string initial, final, snapshots, d_initial, d_final; // of a state
};
struct Fields {
    std::vector<std::string> dims;       // by DimId
    std::vector<OperandFields> operands; // by OperandId
};
Fields fields(TypedRule const&);

} // namespace deltaloom::codegen
