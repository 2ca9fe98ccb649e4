#pragma once
// The statements that compute the values of a body, each into a buffer of its own: no order, no reuse of memory yet.
#include "codegen/kernel/fuse.hpp"
#include "codegen/kernel/kernel.hpp"
#include "codegen/kernel/names.hpp"

namespace deltaloom::codegen {

struct Block {
    BufferId target = -1; // -1: only stores results
    std::vector<Statement> statements;
};

Integer integer(Extent, std::vector<std::string> const& dims);
Argument argument(BufferId);
Argument argument(Integer);
Statement call(std::string function, std::vector<Argument>);

struct BlockWriter {
    Kernel& kernel;
    Function& function;
    Names& names;
    Body const& body;
    std::vector<char> turned; // see stored_turned
    Fusion fusion;
    std::vector<BufferId> buffer; // of every node; -1: not written
    std::map<NodeId, BufferId> turned_copies = {};
    std::vector<Block> blocks = {};

    BufferId make(std::string const& name, Extents);
    void write(NodeId);              // the block of a stored node that is no input
    void add_into(BufferId, NodeId); // a block that adds a value to what the buffer holds
    Scalar entry(NodeId, Integer row, Integer col);
    Argument whole(NodeId); // a matrix as a buffer, transposed into one if need be

private:
    bool in_memory(NodeId) const;
    Statement entries(BufferId, NodeId, bool turned, std::vector<View> const& terms, bool adds, bool rows = false);
    Statement product(View, BufferId, bool add);
    void sum(Block&, View, bool add);
    Statement operation(NodeId, BufferId);
    Argument span(Span const&);
};

} // namespace deltaloom::codegen
