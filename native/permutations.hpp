// Permutation by sorting random keys that hold their positions, and lookup of the values at these positions.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace gainful {

/// The bits of NumPy's SFC64 from a separate state, without a call for every word.
inline uint64_t next_bits(std::array<uint64_t, 4>& state) {
    auto& [a, b, c, counter] = state;
    const uint64_t found = a + b + counter++;
    a = b ^ (b >> 11);
    b = c + (c << 3);
    c = std::rotl(c, 24) + found;
    return found;
}

/// The low bits of a key, as many as needed to number the columns.
template <class Key>
Key place_bits(size_t columns) {
    return static_cast<Key>(std::bit_ceil(columns) - 1);
}

/// Fills rows of keys: the high bits are random, consecutively in memory order; the low ones are the column.
template <class Key>
void random_keys(std::array<uint64_t, 4>& state, Key* keys, size_t rows, size_t columns) {
    std::array<uint64_t, 4> local = state;  // stays in registers
    auto* out = reinterpret_cast<char*>(keys);
    const size_t size = rows * columns * sizeof(Key);
    for (size_t words = size / sizeof(uint64_t); words > 0; --words, out += sizeof(uint64_t)) {
        const uint64_t word = next_bits(local);
        std::memcpy(out, &word, sizeof word);
    }
    if (const size_t rest = size % sizeof(uint64_t)) {
        const uint64_t word = next_bits(local);
        std::memcpy(out, &word, rest);
    }
    state = local;
    const Key random = static_cast<Key>(~place_bits<Key>(columns));
    for (size_t row = 0; row < rows; ++row, keys += columns) {
        for (size_t column = 0; column < columns; ++column) keys[column] = (keys[column] & random) | static_cast<Key>(column);
    }
}

/// Adds to each row of sums the values at the positions in its keys, 0 beyond the last value.
template <class Key>
void add_at_places(double* __restrict sums, const double* values, const Key* keys, size_t rows, size_t columns) {
    const Key mask = place_bits<Key>(columns);
    std::vector<double> table(size_t{mask} + 1);
    std::copy_n(values, columns, table.begin());
    const double* const __restrict at = table.data();
    for (size_t i = 0; i < rows * columns; ++i) sums[i] += at[keys[i] & mask];
}

}  // namespace gainful
