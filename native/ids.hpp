// Hashing of ids, and a table that numbers distinct ones.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "text.hpp"

namespace gainful {

inline uint64_t hash_id(Id id) {
    const auto fold = [](uint64_t h, uint64_t word) {
        h = (h ^ word) * 0x9E3779B97F4A7C15ULL;
        return h ^ (h >> 32);
    };
    // Ids that differ in a digit or two must not end up side by side: tables choose their slots by the lowest bits.
    const auto spread = [](uint64_t h) {
        h *= 0xD6E8FEB86659FD93ULL;
        return h ^ (h >> 32);
    };
    uint64_t h = id.size();
    const char* p = id.data();
    size_t left = id.size();
    for (; left >= 8; left -= 8, p += 8) {
        uint64_t word;
        std::memcpy(&word, p, 8);
        h = fold(h, word);
    }
    // The tail in at most two loads of fixed size; they may overlap.
    if (left >= 4) {
        uint32_t first, last;
        std::memcpy(&first, p, 4);
        std::memcpy(&last, p + left - 4, 4);
        return spread(fold(h, first | static_cast<uint64_t>(last) << 32));
    }
    uint64_t tail = 0;
    for (size_t i = 0; i < left; ++i) tail |= static_cast<uint64_t>(static_cast<unsigned char>(p[i])) << (8 * i);
    return spread(fold(h, tail));
}

inline size_t slots_for(size_t ids) {
    size_t slots = 4;
    while (slots < 2 * ids) slots *= 2;
    return slots;
}

/// Numbers distinct ids in order of first appearance. Does not own their bytes.
class IdTable {
  public:
    uint32_t number_of(Id id) {
        // Ids come in runs: mostly this one is the same as the last.
        if (!ids_.empty() && ids_[last_] == id) return last_;
        if (2 * (ids_.size() + 1) > slots_.size()) grow();
        const uint64_t hash = hash_id(id);
        uint32_t& slot = find(id, hash);
        if (slot == 0) {
            ids_.push_back(id);
            hashes_.push_back(hash);
            slot = static_cast<uint32_t>(ids_.size());
        }
        last_ = slot - 1;
        return last_;
    }

    /// The number of a known id, or -1.
    int64_t lookup(Id id) const {
        if (slots_.empty()) return -1;
        return static_cast<int64_t>(const_cast<IdTable*>(this)->find(id, hash_id(id))) - 1;
    }

    const std::vector<Id>& ids() const { return ids_; }

  private:
    uint32_t& find(Id id, uint64_t hash) {
        size_t at = hash & (slots_.size() - 1);
        while (slots_[at] != 0 && !(hashes_[slots_[at] - 1] == hash && ids_[slots_[at] - 1] == id)) {
            at = (at + 1) & (slots_.size() - 1);
        }
        return slots_[at];
    }

    void grow() {
        slots_.assign(slots_for(2 * (ids_.size() + 1)), 0);
        for (size_t i = 0; i < ids_.size(); ++i) {
            size_t at = hashes_[i] & (slots_.size() - 1);
            while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
            slots_[at] = static_cast<uint32_t>(i + 1);
        }
    }

    uint32_t last_ = 0;
    std::vector<uint32_t> slots_;  // number + 1; 0 is free
    std::vector<Id> ids_;
    std::vector<uint64_t> hashes_;
};

}  // namespace gainful
