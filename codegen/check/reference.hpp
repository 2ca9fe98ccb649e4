#pragma once
// What the declaration says at a point, in double: values, and derivatives of  sum <arriving, result>  along
// directions, from dual numbers; and how far a kernel's answer is from it.
#include "codegen/check/point.hpp"
#include "codegen/check/rounding.hpp"

#include <functional>
#include <span>

namespace deltaloom::codegen {

using Evaluation = std::function<OracleRun<runtime::dual<double>>(OracleData<runtime::dual<double>> const&)>;

class Reference {
public:
    Reference(Compiled const&, Point const&);
    // Of another rule over the same operands, a few of them without use: their gradients are 0.
    Reference(Compiled const&, Point const&, Evaluation);
    Reference(Reference const&) = delete;
    Reference at(Point const& other) const { return Reference(compiled_, other, evaluate_); }
    CallTensors const& forward() const { return forward_; }
    // The line itself stays far within the range of float32.
    bool in_range() const;
    // Only sequences and heads whose tangents are not all zero are evaluated.
    double slope(OperandId, std::vector<double> const& direction) const;
    double derivative(OperandId, std::size_t at) const;
    Point const& point() const { return point_; }
    TypedRule const& rule() const { return compiled_.rule().derived.rule; }

private:
    Compiled const& compiled_;
    Point const& point_;
    Evaluation evaluate_;
    CallTensors forward_;
    bool touched(OperandId, std::vector<double> const& direction, int sequence, int head) const;
};

// One operand's gradient along a random direction and at some entries.
struct Sampled {
    std::vector<double> direction;
    double slope = 0;
    std::vector<std::pair<std::size_t, double>> entries; // place, derivative
};
std::vector<Sampled> sample(Reference const&, Draw&, int entries_each = 6);

// The tensor of an operand, or the row of it, that has this entry.
std::span<double const> part_of(std::vector<double> const& tensor, TypedRule const&, CallShape const&, OperandId, Over,
                                std::size_t entry);

// The largest error so far and where it is; a NaN is an infinite error.
struct Worst {
    double error = 0;
    std::string index{}, got{}, want{};
    void see(double got, double want, double scale, std::function<std::string()> const& where);
};
double largest(std::span<double const>); // of the finite entries' magnitudes

// Errors over 1 + the largest entry of the tensor, or of the row, as the precision says; `floor` in place of that 1.
// Where results are stored in fewer bits than they are computed in, as the precision says.
void compare_values(Worst&, TypedRule const&, Point const&, CallTensors const& got, CallTensors const& want,
                    double floor = 1, Precision const& = {});
void compare_gradients(Worst&, TypedRule const&, Point const&, CallTensors const& got, std::vector<Sampled> const&,
                       double floor = 1, Precision const& = {});

} // namespace deltaloom::codegen
