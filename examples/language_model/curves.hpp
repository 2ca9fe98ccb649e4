#pragma once
#include "trainer.hpp"

#include <string>
#include <utility>
#include <vector>

namespace lm {

// Named loss curves; those of one name share a colour.
using Curves = std::vector<std::pair<std::string, std::vector<Record>>>;
std::string curve_csv(std::vector<Record> const&);
// Throws Refusal with the line that is wrong.
std::vector<Record> curve_of_csv(std::string const& text, std::string const& path);
// Training loss thin and smoothed, validation loss with dots, in bits a byte over steps.
std::string curves_svg(Curves const&, std::string const& title);

} // namespace lm
