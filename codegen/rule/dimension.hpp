#pragma once
// Dimensions that a feature map makes of others. Their names are their formulas: dpfp_dim<nu, d> has the extent 2 nu d,
// taylor2_dim<d> has 1 + d + d d. A rule's list of dimensions holds d before what is made of it.
#include "codegen/rule/typed_rule.hpp"

namespace deltaloom::codegen {

struct MappedDim {  // the extent constant + linear d + square d d
    std::string of; // the name of d
    long constant = 0, linear = 0, square = 0;
    long extent(long d) const { return constant + linear * d + square * d * d; }
};
// Of a plain dimension: nullopt.
std::optional<MappedDim> mapped_dim(std::string const& name);

// The extent as an expression of C++: "1 + dk + dk * dk".
std::string extent_text(MappedDim const&, std::string const& of);

// Of every dimension of a list: which one it is made of, and how; -1 of a plain one.
std::vector<std::pair<DimId, MappedDim>> mapped_dims(std::vector<std::string> const& dims);

// What a feature map makes of a dimension: dpfp and taylor2; nullopt of every other function.
std::optional<std::string> mapped_name(std::string const& function, int count, std::string const& of);

// The dimension of that name, added to the list where it is not there yet.
DimId dimension(std::vector<std::string>& dims, std::string const& name);

// The extents of all dimensions, given those of the plain ones.
std::vector<int> with_mapped(std::vector<std::string> const& dims, std::vector<int> extents);
bool has_mapped(std::vector<std::string> const& dims, std::string const& of); // is one made of it?

// The name as an identifier: dpfp_2_dk, taylor2_dk; of a plain dimension its own.
std::string dim_identifier(std::string const& dim);

} // namespace deltaloom::codegen
