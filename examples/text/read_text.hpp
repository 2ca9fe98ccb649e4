#pragma once
// The real text that the examples read.
#include <cstddef>
#include <string>

// What `bible -f gen1:1-rev22:21` prints (Debian's bible-kjv), or a file; at most `limit` bytes. Throws
// std::runtime_error with the cure.
std::string read_text(std::string const& file, std::size_t limit = ~std::size_t(0));
