#pragma once
// The entry function of a kernel: how a sequence is walked, what it carries, what it calls for one token or chunk.
#include "codegen/kernel/block.hpp"
#include "codegen/kernel/ports.hpp"
#include "codegen/kernel/schedule_body.hpp"

namespace deltaloom::codegen {

// Its matrices are what a sequence carries: parameters, states, and their gradients.
struct Entry {
    TypedRule const& rule;
    Kernel& kernel;
    Function f;
    Names names;
    std::map<std::string, BufferId> matrices; // by port_name

    BufferId make(std::string const& name, Integer rows, Integer cols);
    BufferId take(std::vector<Statement>& to, std::string const& name, Integer rows, Integer cols);
    Integer extent(DimId d) const { return integer(Extent::dim(d), kernel.dims); }
    BufferId matrix(Port);
    void add(Statement s) { f.body.push_back(std::move(s)); }
};
Entry entry(TypedRule const&, Kernel&, std::string const& function);

std::vector<OperandId> with_role(TypedRule const&, Role);
std::string state_text(TypedRule const&, char const* array, OperandId state); // "s.state_in[0]"
Statement define(std::string name, Integer value);
Statement loop(Loop, std::vector<Statement> body, std::string comment = {});

// What the functions of one token or one chunk are called with.
struct Calls {
    bool token;
    // Chunk number `c` of the sequence, full or not.
    std::vector<Argument> place(std::string const& c, bool full = false) const;
};
// The chunk that begins at the token `first`.
std::vector<Argument> chunk_from(Integer const& first);
// `named`: what stands for a given matrix of the function instead of the entry's own.
Statement call_unit(Entry const&, UnitFunction const&, std::vector<Argument> place,
                    std::map<std::string, BufferId> const& named = {});
bool takes(UnitFunction const&, std::string const& name);

void load_parameters(Entry&, std::vector<UnitFunction const*> const&); // those that one of them takes
void load_states(Entry&);
// Gradients of states come from the states after the sequence.
void start_state_gradients(Entry&);
void store_state_gradients(Entry&);

// States kept and computed again, then the units in reverse.
Function backward_entry(TypedRule const&, Kernel&, Program const&, UnitFunction const& advance,
                        UnitFunction const& unit);
Kernel schedule_summary(TypedRule const&, Program const&);

} // namespace deltaloom::codegen
