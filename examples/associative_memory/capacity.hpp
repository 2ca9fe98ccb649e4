#pragma once
// How many pairs a memory of 32 x 32 numbers holds: random unit keys and values, read back after all were written.

struct CapacityRow {
    int pairs;
    double additive, delta, delta_newest,
        least_squares; // root-mean-square error of the reads; newest: of the last 8 pairs
};
CapacityRow capacity(int pairs, int d, int repetitions, unsigned seed, int threads);
// Pairs written `rounds` times over by delta, strength 1: the largest error of a read (the Kaczmarz iteration).
double written_over(int pairs, int d, int rounds, unsigned seed);
