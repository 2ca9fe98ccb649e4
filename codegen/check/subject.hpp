#pragma once
// A rule under levels integer, property and fault: its kernels of one instruction set behind the driver of the C ABI;
// and the sheet on which one property or fault writes what it found, for every form and direction.
#include "codegen/check/facts.hpp"
#include "codegen/check/invoke.hpp"
#include "codegen/check/reference.hpp"
#include "codegen/check/task.hpp"

namespace deltaloom::codegen {

struct Subject {
    Compiled const& compiled;
    TypedRule const& rule;
    runtime::isa_level isa;
    Described described;
    Facts facts;
    std::vector<Form> forms; // that have kernels and are asked for
    std::uint64_t seed;

    Subject(Compiled const&, runtime::isa_level, std::vector<Form> const& asked, std::uint64_t seed);
    Operand const& operand(OperandId id) const { return rule.operands[std::size_t(id)]; }
    // Extents by order: matrix states have `rows` x `columns`, what else there is has `rest`.
    std::vector<int> dims(int rows, int columns, int rest = 5) const;
    CallShape shape(int tokens, int batch = 1, int heads = 1) const; // odd extents
    Draw draw(std::string const& name, int item = 0) const;          // a stream for each name
    Point point(CallShape, Draw&, std::vector<std::int64_t> offsets = {}) const;
    bool has(Form) const;
    bool has_matrix_state() const;
};
dl_form code(Form);

// Sets every number of one operand, per token, to what f(sequence, token, head, entry) says.
template<class F> void set(Subject const& s, Point& p, OperandId id, F f) {
    auto const n = entries(s.rule, p.shape, id);
    auto& values = p.values.values[std::size_t(id)];
    int const heads = p.shape.heads, share = heads / p.shape.operand_heads[std::size_t(id)];
    for (int sequence = 0; sequence < p.sequences(); ++sequence)
        for (int head = 0; head < heads; head += share)
            for (int t = 0; t < p.length(sequence); ++t) {
                auto const at = place(s.rule, p, id, sequence, t, head);
                for (std::size_t e = 0; e < n; ++e) values[at + e] = double(float(f(sequence, t, head, int(e))));
            }
}

// What is allowed of an error: at least 0; `moves` where it follows the declaration's own sensitivity.
struct Allowed {
    double budget = 0;
    std::optional<double> moves{};
};
struct Verdict {
    Worst worst;
    Allowed allowed;
    int chunk = 0;
    bool looked = false;
    std::string reason; // not applicable
};

class Sheet {
public:
    Sheet(Subject const&, std::string level, std::string name, Watch const&);
    // The call, announced before it runs.
    Answer call(Form, Point const&, Manner);
    // Answers of two calls, or of a call and the declaration. Errors are relative to `floor` + the largest entry.
    void same(Form, Point const&, int chunk, Answer const& got, CallTensors const& forward,
              CallTensors const& gradients, double budget, double floor = 1);
    void same(Form, Point const&, int chunk, Answer const& got, Reference const&, std::vector<Sampled> const&,
              double budget, double floor = 1);
    void holds(Form, Direction, Point const&, int chunk, bool, std::string const& index, std::string const& got,
               std::string const& want);
    void not_applicable(Form, Direction, std::string reason);
    void not_applicable(Form, std::string const& reason); // both directions
    void not_applicable(std::string const& reason);       // all forms
    std::vector<Result> results() const;                  // nothing looked at and no reason given: fails

    Subject const& subject;

private:
    std::string level_, name_;
    Watch const& watch_;
    std::map<std::pair<Form, Direction>, std::pair<Verdict, Result>> found_;
    std::pair<Verdict, Result>& at(Form, Direction);
    void see(Form, Direction, Point const&, int chunk, Worst const&, Allowed);
    // What the declaration allows where a budget was not kept; a reason where it leaves the range of float32.
    struct Leeway {
        Allowed allowed[2]; // by direction
        std::string reason[2];
    };
    Leeway leeway(Reference const&, CallTensors const& got, std::vector<Sampled> const& gradients, double budget,
                  double floor) const;
};

// "every form and direction": one row of a level.
struct Row {
    std::string name;
    std::function<void(Sheet&)> run;
};
std::vector<Task> tasks_of(std::shared_ptr<Subject const> const&, std::string const& level, std::vector<Row> const&);

} // namespace deltaloom::codegen
