#pragma once
#include <string>

namespace lm {

// The whole file appears under its name, or the one that was there stays: a temporary beside it, then a rename. What is
// no regular file (a device) is written directly. Throws Refusal with the system's reason.
void write_file(std::string const& path, std::string const& content);
// Throws Refusal where there is no such file.
std::string read_file(std::string const& path);

} // namespace lm
