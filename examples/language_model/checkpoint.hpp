#pragma once
// A run on disk: its settings in words, then numbers, then a hash of both.
#include "trainer.hpp"

namespace lm {

struct Checkpoint {
    Settings settings;
    std::string equation; // of the rule it was trained with
    std::size_t text_bytes = 0;
    std::uint64_t text_hash = 0;
    Progress progress;
};

std::string as_words(Settings const&); // one "name value" a line
void save(std::string const& path, Checkpoint const&);
// Throws Refusal: no checkpoint, cut short, damaged.
Checkpoint load(std::string const& path);
// Throws Refusal where the checkpoint is not one of this model.
void fit(Checkpoint const&, Model const&, std::string const& path);

} // namespace lm
