// Hashing of IDs, and a table that numbers distinct ones.
#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "memory.hpp"
#include "text.hpp"

#if defined(_MSC_VER) && defined(_M_X64)
#include <intrin.h>
#endif

namespace gainful {

namespace detail {

/// The two halves of a 128-bit product, folded into one.
inline uint64_t folded_product(uint64_t a, uint64_t b) {
#if defined(__SIZEOF_INT128__)
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
#elif defined(_MSC_VER) && defined(_M_X64)
    uint64_t high;
    const uint64_t low = _umul128(a, b, &high);
    return low ^ high;
#else
    const uint64_t a0 = static_cast<uint32_t>(a), a1 = a >> 32, b0 = static_cast<uint32_t>(b), b1 = b >> 32;
    const uint64_t low = a0 * b0, middle = a1 * b0 + (low >> 32), other = a0 * b1 + static_cast<uint32_t>(middle);
    return (static_cast<uint32_t>(low) | other << 32) ^ (a1 * b1 + (middle >> 32) + (other >> 32));
#endif
}

/// Secret random numbers, so that IDs cannot be crafted to collide in one slot.
struct HashSecrets {
    uint64_t first, second;

    HashSecrets() {
        std::random_device device;
        const auto draw = [&] { return static_cast<uint64_t>(device()) << 32 | device(); };
        first = draw() | 1;
        second = draw() | 1;
    }
};

inline const HashSecrets hash_secrets;

}  // namespace detail

/// Differs between processes: no output may depend on it.
inline uint64_t hash_id(Id id) {
    const auto [first, second] = detail::hash_secrets;
    const auto load = [](const char* at, auto word) {
        std::memcpy(&word, at, sizeof word);
        return static_cast<uint64_t>(word);
    };
    const char* p = id.data();
    size_t left = id.size();
    uint64_t h = second + left;
    for (; left > 16; left -= 16, p += 16) {
        h = detail::folded_product(load(p, uint64_t{}) ^ first, load(p + 8, uint64_t{}) ^ h);
    }
    // Read the tail with two loads of fixed size, which may overlap.
    uint64_t one = 0, other = 0;
    if (left >= 8) {
        one = load(p, uint64_t{});
        other = load(p + left - 8, uint64_t{});
    } else if (left >= 4) {
        one = load(p, uint32_t{});
        other = load(p + left - 4, uint32_t{});
    } else {
        for (size_t i = 0; i < left; ++i) one |= static_cast<uint64_t>(static_cast<unsigned char>(p[i])) << (8 * i);
    }
    return detail::folded_product(detail::folded_product(one ^ first, other ^ h), second);
}

inline size_t slots_for(size_t ids) {
    size_t slots = 2;
    while (slots < 2 * ids) slots *= 2;
    return slots;
}

/// Numbers distinct IDs in order of first appearance. Does not own their bytes.
class IdTable {
  public:
    /// Numbers IDs by position; returns false if one is repeated.
    bool take(std::vector<Id>&& ids) {
        constexpr size_t far = 16;
        ids_ = std::move(ids);
        slots_.clear();
        make_room(slots_, slots_for(ids_.size()));
        std::vector<uint32_t> tags(ids_.size());
        for (size_t i = 0; i < ids_.size() + far; ++i) {
            if (i < ids_.size()) {
                tags[i] = tag_of(ids_[i]);
                prefetch(&slots_[tags[i] & (slots_.size() - 1)]);
            }
            if (i < far) continue;
            Slot& slot = slots_[find(ids_[i - far], tags[i - far])];
            if (slot.number != 0) return false;
            slot = {tags[i - far], static_cast<uint32_t>(i - far + 1)};
        }
        return true;
    }

    /// Calls number_of for `count` consecutive IDs, prefetching for the next ones.
    template <typename Ids, typename Put>
    void number_all(const Ids& ids, size_t count, const Put& put) {
        constexpr size_t far = 16, near = 8;
        uint32_t tags[2 * far] = {};
        for (size_t i = 0; i < count + far; ++i) {
            if (i < count) {
                tags[i % (2 * far)] = tag_of(ids[i]);
                if (!slots_.empty()) prefetch(&slots_[tags[i % (2 * far)] & (slots_.size() - 1)]);
            }
            if (i >= near && i - near < count && !slots_.empty()) {
                const Slot& slot = slots_[tags[(i - near) % (2 * far)] & (slots_.size() - 1)];
                if (slot.number != 0) prefetch(ids_[slot.number - 1].data());
            }
            if (i >= far) put(number_of(ids[i - far]));
        }
    }

    uint32_t number_of(Id id) {
        // IDs come in runs: usually this one equals the last.
        if (!ids_.empty() && ids_[last_] == id) return last_;
        if (slots_.empty()) {
            if (ids_.empty() || comes_last(id)) {
                ids_.push_back(id);
                return last_ = static_cast<uint32_t>(ids_.size() - 1);
            }
            take(std::exchange(ids_, {}));
        }
        if (2 * (ids_.size() + 1) > slots_.size()) resize(slots_for(ids_.size() + 1));
        const uint32_t tag = tag_of(id);
        Slot& slot = slots_[find(id, tag)];
        if (slot.number == 0) {
            ids_.push_back(id);
            slot = {tag, static_cast<uint32_t>(ids_.size())};
        }
        last_ = slot.number - 1;
        return last_;
    }

    /// Returns the number of a known ID, or -1. IDs mostly come in the order of their numbers: `guess` is tried first.
    int64_t lookup(Id id, size_t guess) const {
        if (guess < ids_.size() && ids_[guess] == id) return static_cast<int64_t>(guess);
        return slots_.empty() ? -1 : static_cast<int64_t>(slots_[find(id, tag_of(id))].number) - 1;
    }

    const std::vector<Id>& ids() const { return ids_; }

  private:
    /// A slot stores the half of the hash that does not choose it, which rules out other IDs without reading them.
    struct Slot {
        uint32_t tag = 0;
        uint32_t number = 0;  // + 1; 0 means free
    };

    /// Returns whether an ID follows all others. They mostly ascend, as texts or numbers: then all are new and need no hash.
    bool comes_last(Id id) {
        const Id last = ids_.back();
        as_texts_ = as_texts_ && last < id;
        as_numbers_ = as_numbers_ && (last.size() == id.size() ? last < id : last.size() < id.size());
        return as_texts_ || as_numbers_;
    }

    static uint32_t tag_of(Id id) { return static_cast<uint32_t>(hash_id(id)); }

    size_t find(Id id, uint32_t tag) const {
        const size_t mask = slots_.size() - 1;
        size_t at = tag & mask;
        while (slots_[at].number != 0 && !(slots_[at].tag == tag && ids_[slots_[at].number - 1] == id)) at = (at + 1) & mask;
        return at;
    }

    void resize(size_t size) {
        std::vector<Slot> before(size);
        before.swap(slots_);
        for (const Slot& slot : before) {
            if (slot.number == 0) continue;
            size_t at = slot.tag & (size - 1);
            while (slots_[at].number != 0) at = (at + 1) & (size - 1);
            slots_[at] = slot;
        }
    }

    uint32_t last_ = 0;
    bool as_texts_ = true, as_numbers_ = true;
    std::vector<Slot> slots_;  // empty as long as IDs ascend
    std::vector<Id> ids_;
};

}  // namespace gainful
