// Documents of many lists at once: which judged item each one is, and which of them have come before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ids.hpp"
#include "judgments.hpp"
#include "parallel.hpp"

namespace gainful {

/// Calls work(worker, first, end) for pieces of the groups: a task for each of very many small groups would cost more than it does.
template <class Work>
void for_each_piece(size_t groups, size_t threads, Work work) {
    constexpr size_t kPiece = 1024;
    const size_t pieces = (groups + kPiece - 1) / kPiece;
    for_each_task(pieces, threads, [&](size_t worker, size_t piece) {
        work(worker, piece * kPiece, std::min(groups, (piece + 1) * kPiece));
    });
}

/// The item of every document, -1 where it is not judged. `query` is by list, -1 for a list without judgments.
inline std::vector<int32_t> find_items(const JudgmentIndex& index, const int64_t* query, const int64_t* offsets, size_t lists,
                                       const DocumentSpans& documents, size_t threads) {
    std::vector<int32_t> items(static_cast<size_t>(offsets[lists]), -1);
    for_each_piece(lists, threads, [&](size_t, size_t first, size_t end) {
        for (size_t list = first; list < end; ++list) {
            if (query[list] < 0) continue;
            for (size_t row = static_cast<size_t>(offsets[list]); row < static_cast<size_t>(offsets[list + 1]); ++row) {
                const Id document = documents[row];
                items[row] = index.find(static_cast<size_t>(query[list]), document, hash_id(document));
            }
        }
    });
    return items;
}

/// Groups of at most so many documents need no table.
constexpr size_t kFew = 32;

/// The repeats in a group of few documents: a bit for each hash tells nearly all of them apart.
inline void find_few_repeats(const DocumentSpans& documents, size_t begin, size_t count, std::vector<uint64_t>& hashes,
                             std::vector<uint8_t>& repeats) {
    uint64_t bits = 0;
    for (size_t i = 0; i < count; ++i) {
        const Id document = documents[begin + i];
        const uint64_t hash = hashes[i] = hash_id(document);
        const uint64_t bit = uint64_t{1} << (hash & 63);
        for (size_t j = 0; (bits & bit) != 0 && j < i; ++j) {
            if (hashes[j] == hash && documents[begin + j] == document) {
                repeats[begin + i] = 1;
                break;
            }
        }
        bits |= bit;
    }
}

/// Whether each document stands before in its group.
inline std::vector<uint8_t> find_repeats(const int64_t* offsets, size_t groups, const DocumentSpans& documents, size_t threads) {
    std::vector<uint8_t> repeats(static_cast<size_t>(offsets[groups]), 0);
    for_each_piece(groups, threads, [&](size_t, size_t first, size_t end) {
        std::vector<uint64_t> hashes;
        std::vector<uint32_t> slots;  // place in the group + 1; 0 is free
        for (size_t group = first; group < end; ++group) {
            const size_t begin = static_cast<size_t>(offsets[group]);
            const size_t count = static_cast<size_t>(offsets[group + 1]) - begin;
            const size_t mask = slots_for(count) - 1;
            hashes.resize(count);
            if (count <= kFew) {
                find_few_repeats(documents, begin, count, hashes, repeats);
                continue;
            }
            slots.assign(mask + 1, 0);
            for (size_t i = 0; i < count; ++i) {
                const Id document = documents[begin + i];
                hashes[i] = hash_id(document);
                size_t at = hashes[i] & mask;
                while (slots[at] != 0 && !(hashes[slots[at] - 1] == hashes[i] && documents[begin + slots[at] - 1] == document)) {
                    at = (at + 1) & mask;
                }
                if (slots[at] == 0) {
                    slots[at] = static_cast<uint32_t>(i + 1);
                } else {
                    repeats[begin + i] = 1;
                }
            }
        }
    });
    return repeats;
}

}  // namespace gainful
