// Looks up documents of many lists at once: the judged item of each, and repetitions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ids.hpp"
#include "judgments.hpp"
#include "parallel.hpp"

namespace gainful {

/// Number of groups per task, since a task for each of many small groups would cost more than its work. Fuzzers, which
/// have few groups, set it lower.
#if !defined(GAINFUL_GROUPS_A_PIECE)
#define GAINFUL_GROUPS_A_PIECE 1024
#endif
constexpr size_t kPiece = GAINFUL_GROUPS_A_PIECE;

/// Calls work(first, end) for pieces of the groups.
template <class Work>
void for_each_piece(size_t groups, size_t threads, Work work) {
    const size_t pieces = (groups + kPiece - 1) / kPiece;
    for_each_task(pieces, threads, [&](size_t, size_t piece) { work(piece * kPiece, std::min(groups, (piece + 1) * kPiece)); });
}

/// Groups of at most this many documents need no table.
constexpr size_t kFew = 32;

/// Calls found(i) for every repeated document i of a small group; two bits per hash rule out nearly all others.
template <class Found>
void find_few_repeats(const DocumentSpans& documents, size_t begin, const std::vector<uint64_t>& hashes, Found found) {
    uint64_t ones = 0, others = 0;
    for (size_t i = 0; i < hashes.size(); ++i) {
        const uint64_t one = uint64_t{1} << (hashes[i] & 63), other = uint64_t{1} << (hashes[i] >> 58);
        const bool may_repeat = ((ones & one) != 0) & ((others & other) != 0);
        for (size_t j = 0; may_repeat && j < i; ++j) {
            if (hashes[j] == hashes[i] && documents[begin + j] == documents[begin + i]) {
                found(i);
                break;
            }
        }
        ones |= one;
        others |= other;
    }
}

/// Likewise for a group of any size; `slots` is scratch memory.
template <class Found>
void find_repeats_in(const DocumentSpans& documents, size_t begin, const std::vector<uint64_t>& hashes,
                     std::vector<uint32_t>& slots, Found found) {
    if (hashes.size() <= kFew) return find_few_repeats(documents, begin, hashes, found);
    const size_t mask = slots_for(hashes.size()) - 1;
    slots.assign(mask + 1, 0);  // position in the group + 1; 0 means free
    for (size_t i = 0; i < hashes.size(); ++i) {
        const Id document = documents[begin + i];
        size_t at = hashes[i] & mask;
        while (slots[at] != 0 && !(hashes[slots[at] - 1] == hashes[i] && documents[begin + slots[at] - 1] == document)) {
            at = (at + 1) & mask;
        }
        if (slots[at] == 0) {
            slots[at] = static_cast<uint32_t>(i + 1);
        } else {
            found(i);
        }
    }
}

/// The judged documents of lists: their positions among all documents, lists and items; and whether any list has repeats.
struct Hits {
    std::vector<int64_t> place, list, item;
    bool has_repeats = false;

    void append(const Hits& other) {
        place.insert(place.end(), other.place.begin(), other.place.end());
        list.insert(list.end(), other.list.begin(), other.list.end());
        item.insert(item.end(), other.item.begin(), other.item.end());
        has_repeats |= other.has_repeats;
    }
};

/// `query` is by list, below 0 for a list without judgments. Also checks the spans.
inline Hits find_hits(const JudgmentIndex& index, const int64_t* query, const int64_t* offsets, size_t lists,
                      const DocumentSpans& documents, size_t threads) {
    std::vector<Hits> pieces((lists + kPiece - 1) / kPiece);
    for_each_piece(lists, threads, [&](size_t first, size_t end) {
        documents.check(static_cast<size_t>(offsets[first]), static_cast<size_t>(offsets[end]));
        Hits& hits = pieces[first / kPiece];
        std::vector<uint64_t> hashes;
        std::vector<uint32_t> slots, candidates;
        for (size_t list = first; list < end; ++list) {
            const size_t begin = static_cast<size_t>(offsets[list]);
            hashes.resize(static_cast<size_t>(offsets[list + 1]) - begin);
            for (size_t i = 0; i < hashes.size(); ++i) hashes[i] = hash_id(documents[begin + i]);
            find_repeats_in(documents, begin, hashes, slots, [&](size_t) { hits.has_repeats = true; });
            if (query[list] < 0) continue;
            const size_t judged = static_cast<size_t>(query[list]);
            const size_t count = index.find_candidates(judged, hashes, candidates);
            for (size_t c = 0; c < count; ++c) {
                const size_t i = candidates[c];
                const int32_t item = index.find(judged, documents[begin + i], hashes[i]);
                if (item < 0) continue;
                hits.place.push_back(static_cast<int64_t>(begin + i));
                hits.list.push_back(static_cast<int64_t>(list));
                hits.item.push_back(item);
            }
        }
    });
    Hits all;
    for (const Hits& hits : pieces) all.append(hits);
    return all;
}

/// Returns whether each document occurs earlier in its group. Also checks the spans.
inline std::vector<uint8_t> find_repeats(const int64_t* offsets, size_t groups, const DocumentSpans& documents, size_t threads) {
    std::vector<uint8_t> repeats(static_cast<size_t>(offsets[groups]), 0);
    for_each_piece(groups, threads, [&](size_t first, size_t end) {
        documents.check(static_cast<size_t>(offsets[first]), static_cast<size_t>(offsets[end]));
        std::vector<uint64_t> hashes;
        std::vector<uint32_t> slots;
        for (size_t group = first; group < end; ++group) {
            const size_t begin = static_cast<size_t>(offsets[group]);
            hashes.resize(static_cast<size_t>(offsets[group + 1]) - begin);
            for (size_t i = 0; i < hashes.size(); ++i) hashes[i] = hash_id(documents[begin + i]);
            find_repeats_in(documents, begin, hashes, slots, [&](size_t i) { repeats[begin + i] = 1; });
        }
    });
    return repeats;
}

}  // namespace gainful
