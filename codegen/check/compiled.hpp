#pragma once
// A compiled rule in this process: the declaration as the expression templates evaluate it, its emitted text over the
// field, its production kernels.
#include "codegen/check/compile.hpp"
#include "codegen/check/drive.hpp"
#include "deltaloom/check/interface.hpp"

namespace deltaloom::codegen {

class Compiled {
public:
    // Throws std::runtime_error if the object cannot be loaded.
    Compiled(std::filesystem::path const& object, LoadedRule const&, std::string const& library);
    ~Compiled();
    Compiled(Compiled const&) = delete;

    // The oracle. Where no other file can name the rule (a function's local), the tree walk in this process takes its
    // place.
    OracleRun<runtime::dual<runtime::field>> evaluate(std::vector<int> const& dims,
                                                      OracleData<runtime::dual<runtime::field>> const&) const;
    OracleRun<runtime::dual<double>> evaluate(std::vector<int> const& dims,
                                              OracleData<runtime::dual<double>> const&) const;
    bool by_expression_templates() const { return oracle_ != nullptr; }

    // The emitted text over the field; forms: 0 step, 1 recurrent, 2 chunked (parallel is chunked with chunk =
    // tokens), 3 summary.
    bool has_text(int form, Direction d) const { return text_ && text(form, d).run; }
    runtime::kernel text(int form, Direction d) const { return text_[2 * form + (d == Direction::backward)]; }
    runtime::kernel apply(Direction d) const { return text_[8 + (d == Direction::backward)]; } // a segment's map
    // Null: not compiled for this instruction set.
    runtime::kernel_table const* production(runtime::isa_level level) const { return production_[level]; }
    LoadedRule const& rule() const { return rule_; }

private:
    LoadedRule const& rule_;
    void* handle_ = nullptr;
    check::token_function const* oracle_ = nullptr; // [exact, number]
    runtime::kernel const* text_ = nullptr;
    runtime::kernel_table const* production_[runtime::isa_levels] = {};
};

// One head of one sequence through one form of the emitted text, over the field. `segment`: chunks for each kept state;
// `length`: of the form summary, tokens that run side by side with others. `stray` gets what it wrote outside its
// outputs and its scratch, or into what it is given: "d_k", "a write behind its end"; throws std::runtime_error where
// the kernel cannot be run.
struct Stray {
    std::string where, what;
};
Driven run_text(Compiled const&, int form, Direction, int chunk, int segment, int length, std::vector<int> const& dims,
                OracleData<runtime::field> const&, Arriving<runtime::field> const&, std::optional<Stray>& stray);

} // namespace deltaloom::codegen
