#pragma once
// A training step: the batch in shares that may run side by side, their gradients summed in the order of the shares,
// the optimiser. The bits depend on the number of shares, never on threads.
#include "data.hpp"
#include "optimiser.hpp"

#include <span>

namespace lm {

// One line of the loss curve.
struct Record {
    int step;
    double loss, rate, norm, validation; // nats per byte; validation: NaN where it was not measured
};
// What a checkpoint keeps: with it training goes on as if it had never stopped.
struct Progress {
    int step = 0; // steps done
    std::vector<float> parameters;
    Moments moments;
    std::vector<float> state; // of every sequence of the batch, where it is carried
    std::vector<Record> history;
};
Progress first_progress(Model const&);

class Trainer {
public:
    Trainer(Model const&, int threads);
    // One step; returns the mean loss of its batch before the update. Not finite: nothing was changed.
    Record step(Progress&, Data const&);
    // Seconds of every part over all threads since the start; seconds of the optimiser, of the whole steps.
    Profile profile() const;
    double optimiser_seconds = 0, seconds = 0;
    // What a step keeps: activations and workspaces of the shares that run side by side.
    std::size_t bytes() const;

private:
    struct Share {
        Pass<float> pass;
        std::vector<float> gradient;
        double loss = 0;
    };
    Model const& model_;
    int threads_, sequences_; // of a share
    std::vector<std::unique_ptr<Share>> shares_;
    std::vector<float> gradient_;
};

} // namespace lm
