#include "text.hpp"

#include <cmath>
#include <random>

Text symbols_of(std::string const& raw) {
    Text text;
    int rank[256];
    for (int& r : rank) r = -1;
    for (unsigned char c : raw) {
        if (rank[c] < 0) rank[c] = int(text.bytes.size()), text.bytes += char(c);
        text.symbols.push_back(static_cast<unsigned char>(rank[c]));
    }
    return text;
}

ContextKeys::ContextKeys(int h, int d) : heads(h), dk(d), table_(std::size_t(h) * rows * std::size_t(d)) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    for (std::size_t row = 0; row < std::size_t(heads) * rows; ++row) {
        float* const key = &table_[row * std::size_t(dk)];
        double norm = 0;
        for (int i = 0; i < dk; ++i) key[i] = normal(random), norm += double(key[i]) * key[i];
        for (int i = 0; i < dk; ++i) key[i] = float(key[i] / std::sqrt(norm));
    }
}

void ContextKeys::write(Text const& text, std::size_t position, float* to) const {
    std::size_t hash = 0x9e3779b97f4a7c15u;
    for (int h = 0; h < heads; ++h) { // head h knows the last h + 1 symbols
        std::size_t const symbol = std::size_t(h) <= position ? text.symbols[position - std::size_t(h)] : 255;
        hash = (hash ^ (symbol + 1)) * 0xbf58476d1ce4e5b9u;
        hash ^= hash >> 29;
        float const* const key = &table_[(std::size_t(h) * rows + hash % rows) * std::size_t(dk)];
        for (int i = 0; i < dk; ++i) to[h * dk + i] = key[i];
    }
}
