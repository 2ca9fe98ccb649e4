#pragma once
#include "checkpoint.hpp"

namespace lm {

struct TrainOptions {
    std::string out = "build/language_model"; // folder of checkpoint, loss.csv and loss.svg
    bool resume = false;
    int threads = 1, every = 200, validate = 100; // steps between checkpoints, between validations
    int stop_after = -1;                          // end early, as Ctrl-C does, once so many steps are done
};
std::string checkpoint_path(std::string const& folder);

// Trains to the settings' last step, with a checkpoint at intervals, at the end and on Ctrl-C. Returns the exit status:
// 0, or 130 when it was interrupted. Throws Refusal where the loss is no longer finite.
int train(Model const&, Data const&, Progress, TrainOptions const&);

} // namespace lm
