// Sums over flipped queries, and the number of draws that are as extreme as the observed value. Sums are multiples of a
// power of 2 that a double represents exactly, so that neither the order of additions nor threads change a bit.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "parallel.hpp"

namespace gainful {

/// A matrix in row-major order.
template <class T>
struct Matrix {
    const T* data;
    size_t rows, columns;

    const T* row(size_t i) const { return data + i * columns; }
};

constexpr size_t kStrip = 8;           // columns summed together: one cache line
constexpr size_t kSummedDraws = 2048;  // draws whose sums of a strip fit into the cache together with a table

/// The sums of all subsets of at most 8 rows of some columns; subset i has the rows whose bits are set in i.
class SubsetTable {
  public:
    SubsetTable(const Matrix<double>& steps, size_t first_row, size_t first_column) {
        const size_t rows = std::min<size_t>(8, steps.rows - first_row);
        const size_t columns = std::min(kStrip, steps.columns - first_column);
        for (size_t bit = 0; bit < rows; ++bit) {
            const double* const row = steps.row(first_row + bit) + first_column;
            for (size_t i = 0, half = size_t{1} << bit; i < half; ++i) {
                for (size_t column = 0; column < columns; ++column) sums_[half + i][column] = sums_[i][column] + row[column];
            }
        }
        mask_ = static_cast<uint8_t>((1U << rows) - 1);
    }

    /// Bits beyond the last row may be set and are ignored.
    const double* operator[](uint8_t subset) const { return sums_[subset & mask_].data(); }

  private:
    std::array<std::array<double, kStrip>, 256> sums_{};
    uint8_t mask_;
};

/// Columns x draws: the sum of each column of steps (queries x columns) over the flipped queries. Flips (draws x bytes)
/// hold eight queries per byte, the first in the lowest bit.
inline std::vector<double> flipped_sums(const Matrix<double>& steps, const Matrix<uint8_t>& flips, size_t threads) {
    const size_t draws = flips.rows, parts = (draws + kSummedDraws - 1) / kSummedDraws;
    const size_t strips = (steps.columns + kStrip - 1) / kStrip;
    std::vector<double> found(steps.columns * draws);
    for_each_task(strips * parts, threads, [&](size_t, size_t task) {
        const size_t column = task / parts * kStrip, start = task % parts * kSummedDraws;
        const size_t size = std::min(kSummedDraws, draws - start);
        std::vector<double> sums(size * kStrip);
        for (size_t query = 0; query < steps.rows; query += 8) {
            const SubsetTable table(steps, query, column);
            double* __restrict sum = sums.data();
            for (size_t draw = 0; draw < size; ++draw, sum += kStrip) {
                const double* const part = table[flips.row(start + draw)[query / 8]];
                for (size_t i = 0; i < kStrip; ++i) sum[i] += part[i];
            }
        }
        for (size_t i = 0; i < std::min(kStrip, steps.columns - column); ++i) {
            double* const out = found.data() + (column + i) * draws + start;
            for (size_t draw = 0; draw < size; ++draw) out[draw] = sums[draw * kStrip + i];
        }
    });
    return found;
}

/// Two rows of sums, the weight of their difference, and the thresholds for it and for the largest so far.
struct FlippedPair {
    size_t first, second;
    double weight, edge, reach;
};

struct Extremes {
    std::vector<int64_t> alone, among;  // one per pair
    std::vector<double> largest;        // one per draw
};

constexpr size_t kComparedDraws = 512;  // draws for which the sums of a hundred columns fit into the cache

/// For each pair in turn: the number of draws in which its absolute difference reaches its edge, and in which the largest
/// difference of this and earlier pairs reaches its reach.
inline Extremes count_extremes(const Matrix<double>& sums, const std::vector<FlippedPair>& pairs, size_t threads) {
    const size_t draws = sums.columns, parts = (draws + kComparedDraws - 1) / kComparedDraws;
    const size_t workers = std::max<size_t>(1, std::min(threads, parts));
    Extremes found{std::vector<int64_t>(pairs.size()), std::vector<int64_t>(pairs.size()), std::vector<double>(draws)};
    std::vector<std::vector<int64_t>> alone(workers, found.alone), among(workers, found.among);
    for_each_task(parts, workers, [&](size_t worker, size_t part) {
        const size_t start = part * kComparedDraws, size = std::min(kComparedDraws, draws - start);
        double* const __restrict largest = found.largest.data() + start;
        for (size_t i = 0; i < pairs.size(); ++i) {
            const auto [first, second, weight, edge, reach] = pairs[i];
            const double *const one = sums.row(first) + start, *const other = sums.row(second) + start;
            // Count sign bits of differences instead of comparing, because every processor vectorises that.
            uint64_t less_extreme = 0, not_reached = 0;
            for (size_t draw = 0; draw < size; ++draw) {
                const double apart = std::fabs(one[draw] - other[draw]) * weight;
                const double most = apart > largest[draw] ? apart : largest[draw];
                largest[draw] = most;
                less_extreme += std::bit_cast<uint64_t>(apart - edge) >> 63;
                not_reached += std::bit_cast<uint64_t>(most - reach) >> 63;
            }
            alone[worker][i] += static_cast<int64_t>(size - less_extreme);
            among[worker][i] += static_cast<int64_t>(size - not_reached);
        }
    });
    for (size_t worker = 0; worker < workers; ++worker) {
        for (size_t i = 0; i < pairs.size(); ++i) {
            found.alone[i] += alone[worker][i];
            found.among[i] += among[worker][i];
        }
    }
    return found;
}

}  // namespace gainful
