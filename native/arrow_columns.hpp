// Arrow arrays as columns of IDs and numbers.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "memory.hpp"
#include "arrow_interface.hpp"

namespace gainful {

namespace detail {

enum class Layout {
    i8, u8, i16, u16, i32, u32, i64, u64, half, single, twice, boolean,  // numbers
    strings, large_strings, views,
    other
};

inline bool is_integer(Layout layout) { return layout <= Layout::u64; }
inline bool is_number(Layout layout) { return layout <= Layout::boolean; }
inline bool is_text(Layout layout) { return layout >= Layout::strings && layout <= Layout::views; }

inline Layout layout_of(const char* format) {
    static constexpr std::pair<const char*, Layout> kLayouts[] = {
        {"u", Layout::strings}, {"U", Layout::large_strings}, {"vu", Layout::views},
        {"z", Layout::strings}, {"Z", Layout::large_strings}, {"vz", Layout::views},
        {"c", Layout::i8},      {"C", Layout::u8},            {"s", Layout::i16},
        {"S", Layout::u16},     {"i", Layout::i32},           {"I", Layout::u32},
        {"l", Layout::i64},     {"L", Layout::u64},           {"e", Layout::half},
        {"f", Layout::single},  {"g", Layout::twice},         {"b", Layout::boolean}};
    for (const auto& [text, layout] : kLayouts) {
        if (std::strcmp(format, text) == 0) return layout;
    }
    return Layout::other;
}

struct Half {
    uint16_t bits;
    explicit operator double() const {
        const int exponent = bits >> 10 & 31, fraction = bits & 1023;
        double value = exponent == 31 ? (fraction ? std::numeric_limits<double>::quiet_NaN() : HUGE_VAL)
                       : exponent     ? std::ldexp(1024 + fraction, exponent - 25)
                                      : std::ldexp(fraction, -24);
        return bits >> 15 ? -value : value;
    }
};

/// Calls work with a value of the integer layout's type.
template <class Work>
void with_integer(Layout layout, Work work) {
    switch (layout) {
        case Layout::i8: return work(int8_t{});
        case Layout::u8: return work(uint8_t{});
        case Layout::i16: return work(int16_t{});
        case Layout::u16: return work(uint16_t{});
        case Layout::i32: return work(int32_t{});
        case Layout::u32: return work(uint32_t{});
        case Layout::i64: return work(int64_t{});
        default: return work(uint64_t{});
    }
}

inline void demand(bool condition, const char* what) {
    if (!condition) throw std::invalid_argument(std::string("the Arrow stream is broken: ") + what);
}

inline bool bit_at(const void* bits, int64_t at) { return static_cast<const uint8_t*>(bits)[at >> 3] >> (at & 7) & 1; }

/// Buffers need not be aligned.
template <class T>
T load(const void* values, int64_t at) {
    T value;
    std::memcpy(&value, static_cast<const char*>(values) + at * static_cast<int64_t>(sizeof(T)), sizeof(T));
    return value;
}

/// A range of an array: `count` values starting at `first`, which includes the array's own offset.
struct Stretch {
    const ArrowArray* array;
    int64_t first, count;

    /// A buffer that is required unless there are no values.
    const void* buffer(int64_t at, int64_t least) const {
        demand(array->n_buffers >= least, "an array lacks a buffer");
        const void* const found = array->buffers[at];
        demand(found != nullptr, "a buffer is missing");
        return found;
    }

    const void* validity() const {
        return array->null_count != 0 && array->n_buffers > 0 ? array->buffers[0] : nullptr;
    }
};

inline bool is_valid(const Stretch& values, const void* validity, int64_t at) {
    return !validity || bit_at(validity, values.first + at);
}

/// Calls work(row) for the null rows, counted from the start of the range.
template <class Work>
void for_each_null(const Stretch& values, Work work) {
    const void* const validity = values.validity();
    if (!validity) return;
    for (int64_t i = 0; i < values.count; ++i) {
        if (!bit_at(validity, values.first + i)) work(i);
    }
}

/// Calls work(position in the dictionary) for every row, with -1 for nulls.
template <class Work>
void for_each_position(Layout layout, const Stretch& values, Work work) {
    if (values.count == 0) return;
    const void* const positions = values.buffer(1, 2);
    const void* const validity = values.validity();
    const uint64_t size = static_cast<uint64_t>(values.array->dictionary->length);
    with_integer(layout, [&](auto type) {
        for (int64_t i = 0; i < values.count; ++i) {
            if (!is_valid(values, validity, i)) {
                work(int64_t{-1});
                continue;
            }
            // A negative position becomes too large.
            const uint64_t position = static_cast<uint64_t>(load<decltype(type)>(positions, values.first + i));
            demand(position < size, "a position leaves the dictionary");
            work(static_cast<int64_t>(position));
        }
    });
}

}  // namespace detail

/// Consecutive IDs. Those of nulls are empty, at 0.
class ArrowIds {
  public:
    static constexpr const char* kWhat = "ids";
    static bool reads(detail::Layout layout) { return detail::is_integer(layout) || detail::is_text(layout); }

    std::vector<char> data;
    std::vector<int64_t> start, length;

    int64_t rows() const { return static_cast<int64_t>(start.size()); }

    void reserve(int64_t rows) {
        reserve_room(start, static_cast<size_t>(rows));
        reserve_room(length, static_cast<size_t>(rows));
    }

    void append(detail::Layout layout, const detail::Stretch& values) {
        using detail::Layout;
        if (values.count == 0) return;
        if (layout == Layout::strings) return append_strings<int32_t>(values);
        if (layout == Layout::large_strings) return append_strings<int64_t>(values);
        if (layout == Layout::views) return append_views(values);
        detail::with_integer(layout, [&](auto type) { append_integers<decltype(type)>(values); });
    }

    /// The words of a dictionary, each stored once.
    void learn(detail::Layout layout, const detail::Stretch& words) {
        ArrowIds learnt;
        learnt.data.swap(data);
        learnt.append(layout, words);
        data.swap(learnt.data);
        word_start_.swap(learnt.start);
        word_length_.swap(learnt.length);
    }

    void take(int64_t word) {
        if (word < 0) return add(0, 0);
        add(word_start_[static_cast<size_t>(word)], word_length_[static_cast<size_t>(word)]);
    }

    void blank(int64_t row) { start[static_cast<size_t>(row)] = length[static_cast<size_t>(row)] = 0; }

  private:
    void add(int64_t at, int64_t size) {
        start.push_back(at);
        length.push_back(size);
    }

    int64_t here() const { return static_cast<int64_t>(data.size()); }

    void add_copy(const char* bytes, int64_t size) {
        add(here(), size);
        data.insert(data.end(), bytes, bytes + size);
    }

    template <class Offset>
    void append_strings(const detail::Stretch& values) {
        using namespace detail;
        const void* const offsets = values.buffer(1, 3);
        const void* const validity = values.validity();
        const int64_t begin = load<Offset>(offsets, values.first);
        demand(begin >= 0, "an offset is negative");
        const int64_t shift = here() - begin;
        int64_t at = begin;
        for (int64_t i = 0; i < values.count; ++i) {
            const int64_t next = load<Offset>(offsets, values.first + i + 1);
            demand(next >= at, "the offsets decrease");
            if (is_valid(values, validity, i)) {
                add(at + shift, next - at);
            } else {
                add(0, 0);
            }
            at = next;
        }
        if (at == begin) return;
        const char* const bytes = static_cast<const char*>(values.buffer(2, 3));
        reserve_room(data, data.size() + static_cast<size_t>(at - begin));
        data.insert(data.end(), bytes + begin, bytes + at);
    }

    /// A view is a length and 12 bytes: the string, or its first 4 bytes, buffer number and offset.
    void append_views(const detail::Stretch& values) {
        using namespace detail;
        constexpr int64_t kSize = 16, kInline = 12, kShort = 32;
        const char* const views = static_cast<const char*>(values.buffer(1, 3)) + kSize * values.first;
        const void* const validity = values.validity();
        const int64_t begin = here();
        int64_t end = begin;
        for (int64_t i = 0; i < values.count; ++i) {
            const int64_t size = is_valid(values, validity, i) ? load<int32_t>(views + kSize * i, 0) : 0;
            demand(size >= 0, "a length is negative");
            add(is_valid(values, validity, i) ? end : 0, size);
            end += size;
        }
        // With some spare room, all short strings can be copied in the same way.
        reserve_room(data, static_cast<size_t>(end + kShort));
        data.resize(static_cast<size_t>(end + kShort));
        const std::vector<Buffer> buffers = buffers_of(values);
        char* to = data.data() + begin;
        const int64_t* const sizes = length.data() + length.size() - values.count;
        for (int64_t i = 0; i < values.count; to += sizes[i++]) {
            const char* const view = views + kSize * i;
            if (sizes[i] <= kInline) {
                std::memcpy(to, view + 4, kInline);
                continue;
            }
            const int64_t number = load<int32_t>(view, 2), first = load<int32_t>(view, 3);
            demand(number >= 0 && static_cast<size_t>(number) < buffers.size(), "a view has no buffer");
            const Buffer& buffer = buffers[static_cast<size_t>(number)];
            demand(first >= 0 && first + sizes[i] <= buffer.size, "a view leaves its buffer");
            const bool is_short = sizes[i] <= kShort && first + kShort <= buffer.size;
            std::memcpy(to, buffer.data + first, is_short ? kShort : static_cast<size_t>(sizes[i]));
        }
        data.resize(static_cast<size_t>(end));
    }

    struct Buffer {
        const char* data;
        int64_t size;
    };

    /// The buffers of long views.
    static std::vector<Buffer> buffers_of(const detail::Stretch& values) {
        const int64_t count = values.array->n_buffers - 3;  // all except validity, views and, at the end, sizes
        std::vector<Buffer> buffers;
        for (int64_t i = 0; i < count; ++i) {
            const int64_t size = detail::load<int64_t>(values.buffer(count + 2, 3), i);
            buffers.push_back({size ? static_cast<const char*>(values.buffer(2 + i, 3)) : nullptr, size});
        }
        return buffers;
    }

    template <class Integer>
    void append_integers(const detail::Stretch& values) {
        using namespace detail;
        using Wide = std::conditional_t<std::is_signed_v<Integer>, int64_t, uint64_t>;
        const void* const integers = values.buffer(1, 2);
        const void* const validity = values.validity();
        for (int64_t i = 0; i < values.count; ++i) {
            if (!is_valid(values, validity, i)) {
                add(0, 0);
                continue;
            }
            char digits[24];
            const Wide value = load<Integer>(integers, values.first + i);
            add_copy(digits, std::to_chars(digits, digits + sizeof digits, value).ptr - digits);
        }
    }

    std::vector<int64_t> word_start_, word_length_;
};

/// Numbers, NaN where null, and the first ten null rows.
class ArrowNumbers {
  public:
    static constexpr const char* kWhat = "numbers";
    static bool reads(detail::Layout layout) { return detail::is_number(layout); }

    std::vector<double> values;
    std::vector<int64_t> nulls;

    int64_t rows() const { return static_cast<int64_t>(values.size()); }
    void reserve(int64_t rows) { reserve_room(values, static_cast<size_t>(rows)); }

    void append(detail::Layout layout, const detail::Stretch& from) {
        using detail::Layout;
        if (from.count == 0) return;
        const int64_t first_row = rows();
        if (layout == Layout::boolean) {
            const void* const bits = from.buffer(1, 2);
            for (int64_t i = 0; i < from.count; ++i) values.push_back(detail::bit_at(bits, from.first + i));
        } else if (layout == Layout::half) {
            append_values<detail::Half>(from);
        } else if (layout == Layout::single) {
            append_values<float>(from);
        } else if (layout == Layout::twice) {
            append_values<double>(from);
        } else {
            detail::with_integer(layout, [&](auto type) { append_values<decltype(type)>(from); });
        }
        detail::for_each_null(from, [&](int64_t row) { blank(first_row + row); });
    }

    void learn(detail::Layout layout, const detail::Stretch& words) {
        ArrowNumbers learnt;
        learnt.append(layout, words);
        words_.swap(learnt.values);
        is_word_null_.assign(words_.size(), false);
        detail::for_each_null(words, [&](int64_t word) { is_word_null_[static_cast<size_t>(word)] = true; });
    }

    void take(int64_t word) {
        const bool is_null = word < 0 || is_word_null_[static_cast<size_t>(word)];
        values.push_back(is_null ? 0.0 : words_[static_cast<size_t>(word)]);
        if (is_null) blank(rows() - 1);
    }

    void blank(int64_t row) {
        constexpr size_t kKept = 10;
        values[static_cast<size_t>(row)] = std::numeric_limits<double>::quiet_NaN();
        if (nulls.size() == kKept && row > nulls.back()) return;
        const auto place = std::lower_bound(nulls.begin(), nulls.end(), row);
        if (place != nulls.end() && *place == row) return;
        nulls.insert(place, row);
        if (nulls.size() > kKept) nulls.pop_back();
    }

  private:
    template <class Value>
    void append_values(const detail::Stretch& from) {
        const void* const source = from.buffer(1, 2);
        for (int64_t i = 0; i < from.count; ++i) {
            values.push_back(static_cast<double>(detail::load<Value>(source, from.first + i)));
        }
    }

    std::vector<double> words_;
    std::vector<bool> is_word_null_;
};

}  // namespace gainful
