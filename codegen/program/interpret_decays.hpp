#pragma once
// The operations between events, from their definitions: every product is taken over the decay rows between a write and
// a read.
#include "codegen/program/interpret.hpp"

namespace deltaloom::codegen {

// arguments: the values of the node's arguments; log: whether the decay rows are log values.
template<class K>
Dense<K> between_events(Node const&, std::vector<Dense<K> const*> const& arguments, bool log, Sizes const&);
extern template Dense<runtime::field> between_events(Node const&, std::vector<Dense<runtime::field> const*> const&,
                                                     bool, Sizes const&);
extern template Dense<double> between_events(Node const&, std::vector<Dense<double> const*> const&, bool, Sizes const&);
extern template Dense<float> between_events(Node const&, std::vector<Dense<float> const*> const&, bool, Sizes const&);
extern template Dense<runtime::dual<runtime::field>>
between_events(Node const&, std::vector<Dense<runtime::dual<runtime::field>> const*> const&, bool, Sizes const&);

} // namespace deltaloom::codegen
