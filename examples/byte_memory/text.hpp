#pragma once
// A real text as symbols, and the fixed random keys of its contexts.
#include <string>
#include <vector>

struct Text {
    std::vector<unsigned char> symbols; // every byte as its rank among the distinct ones
    std::string bytes;                  // rank -> byte
};
Text symbols_of(std::string const& raw);

// A head's key for a position: a fixed random unit vector for the last `order` symbols.
class ContextKeys {
public:
    ContextKeys(int heads, int dk);
    // Key of every head for the context that ends at `position` (included), heads * dk floats.
    void write(Text const&, std::size_t position, float* to) const;
    int heads, dk;

private:
    static constexpr std::size_t rows = 1 << 13; // random vectors per head; a context is hashed onto one of them
    std::vector<float> table_;
};
