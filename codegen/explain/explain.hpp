#pragma once
// What a rule does and how its chunk comes about, as values that a printer lays out: the line, its canonical
// recurrence, the chunk with the rule's own names, the forms, the costs.
#include "codegen/explain/formula.hpp"
#include "codegen/program/program.hpp"

namespace deltaloom::codegen {

struct Equation {
    Formula left;
    std::string relation = "="; // or "<-": from here on the state is this
    Formula right;
    std::string comment = {}; // plain words
};
struct Meaning { // of a symbol
    Formula what;
    std::string words;
};
struct ExplainedOperand {
    Formula what;
    std::string role;   // "state", "input", ...
    std::string shape;  // "a number", "dk", "dv x dk"
    std::string domain; // in words; empty: any finite number, as of every input
};
std::string text(ExplainedOperand const&); // in words
struct ExplainedChunk {                    // of one component
    std::string states;                    // "S", "M, S"
    std::vector<Meaning> meanings;
    std::vector<Equation> definitions; // what phi, D and E are, and the writes of a token
    std::vector<Equation> equations;   // M, B, U, the reads, the state after
};
struct MissingForm {
    std::string forms; // "chunked, parallel"
    std::string reason;
    std::string operation; // what the user wrote there: "tanh", "*"; empty if unknown
    Location where;
};
struct ExplainedCost { // of one token
    std::string form, direction;
    double operations = 0, token_bytes = 0, state_bytes = 0;
};
struct ExplainedMap { // a feature map, of one token
    Formula what;
    double features = 0, operations = 0, bytes = 0; // bytes: of a tensor of features, which no kernel writes
};
struct ExplainedCosts {
    std::string sizes; // "dk = 128, dv = 128, chunk = 16"
    std::vector<ExplainedCost> rows;
    double floor_operations = 0;                        // of the recurrence, one token after the other
    double floor_forward = 0, floor_backward = 0;       // bytes of inputs and outputs, each touched once
    std::vector<ExplainedMap> maps;                     // those that change a dimension
    std::vector<std::pair<std::string, double>> states; // bytes of each
};
struct ExplainedGrowth { // measured, with these keys
    std::string keys;
    double state = 0, over_half = 0, solve = 0, digits_step = 0, digits_chunked = 0;
};
struct ExplainedGrowths {
    std::string sizes; // "256 tokens, every dimension 16, a chunk of 16"
    bool chunked = false;
    std::vector<ExplainedGrowth> rows;
    std::string advice; // where one of them grows without bound
};
inline constexpr char const* growth_words =
    "The largest entry of a state at the end, and over that of half of the tokens; what a chunk's solve multiplies its "
    "right side by.";
struct Explanation {
    std::string name, line;
    Location where;
    std::vector<ExplainedOperand> operands;
    std::vector<Equation> statements; // as written
    std::vector<Meaning> components;
    std::vector<Equation> recurrence; // canonical, in the order of the token; empty where there is none
    std::vector<ExplainedChunk> chunks;
    std::vector<Equation> outputs; // of the chunk
    std::vector<std::string> forms;
    std::vector<MissingForm> missing;
    ExplainedCosts costs;
    std::optional<ExplainedGrowths> growth; // nobody has measured it: absent
};

struct ExplainSizes {
    int dk = 128, dv = 128, chunk = 16; // dimensions of other names are as large as dk
};
Explanation explain(Derived const&, ExplainSizes const& = {});

std::string text(Equation const&);
std::string text(Explanation const&);
std::string latex(Explanation const&); // a fragment for a document that loads amsmath
// One page that needs nothing else: well-formed XML, formulas as MathML.
std::string html(std::vector<Explanation> const&);

} // namespace deltaloom::codegen
