#pragma once
#include "model.hpp"

#include <functional>

namespace lm {

// Reads the prompt in one pass, then decodes byte by byte with the step kernel; `say` gets every new byte. Temperature
// 0 takes the likeliest byte.
void generate(Model const&, std::vector<float> const& parameters, std::string const& prompt, int count,
              double temperature, std::uint64_t seed, std::function<void(char)> const& say);

} // namespace lm
