#include "codegen/check/sensitivity.hpp"

#include "codegen/check/rounding.hpp"

#include <cmath>
#include <fmt/format.h>

namespace deltaloom::codegen {

Sensitivity sensitivity(Reference const& reference, CallTensors const& got, std::vector<Sampled> const& gradients,
                        double floor, Over over) {
    constexpr int samples = 4;
    double const roundoff = unit_roundoff(reference.point().shape.in_double() ? DL_F64 : DL_F32);
    Worst forward, backward;
    Draw draw(0x5e751712u, 0);
    for (int i = 0; i < samples; ++i) {
        Point moved = reference.point();
        for (auto* tensors : {&moved.values, &moved.arriving})
            for (auto& values : tensors->values)
                for (double& x : values)
                    if (std::isfinite(x)) x *= 1 + (draw.below(2) ? roundoff : -roundoff);
        auto const other = reference.at(moved);
        compare_values(forward, reference.rule(), moved, other.forward(), reference.forward(), floor, {.over = over});
        if (gradients.empty()) continue;
        for (std::size_t id = 0; id < gradients.size(); ++id) {
            auto const& g = gradients[id];
            if (g.direction.empty() || got.values[id].empty()) continue;
            auto const& tensor = got.values[id];
            auto const nowhere = [] { return std::string(); };
            for (auto const& [at, derivative] : g.entries) {
                auto const part = part_of(tensor, reference.rule(), moved.shape, OperandId(id), over, at);
                backward.see(other.derivative(OperandId(id), at), derivative, floor + largest(part), nowhere);
            }
            backward.see(other.slope(OperandId(id), g.direction), g.slope,
                         (floor + largest(tensor)) * std::sqrt(double(g.direction.size())), nowhere);
        }
    }
    return {forward.error, backward.error};
}

std::string beyond_float32(char const* what, Point const& p) {
    return fmt::format("{} itself grows beyond float32 over {} tokens", what, p.shape.tokens);
}

} // namespace deltaloom::codegen
