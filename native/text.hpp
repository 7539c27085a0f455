// Splits bytes into lines, fields and numbers. Nothing here allocates.
#pragma once

#include <bit>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace gainful {

using Id = std::string_view;

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A UTF-8 byte order mark at the start of a text is not part of its first field.
inline const char* skip_byte_order_mark(const char* begin, const char* end) {
    return end - begin >= 3 && std::memcmp(begin, "\xEF\xBB\xBF", 3) == 0 ? begin + 3 : begin;
}

/// One line without its line end. `next` is the start of the following line.
struct Line {
    const char* begin;
    const char* end;
    const char* next;
};

inline Line line_at(const char* begin, const char* end) {
    const char* feed = static_cast<const char*>(std::memchr(begin, '\n', static_cast<size_t>(end - begin)));
    const char* stop = feed ? feed : end;
    const char* content_end = stop > begin && stop[-1] == '\r' ? stop - 1 : stop;
    return {begin, content_end, feed ? feed + 1 : end};
}

/// Returns the first of two bytes in [at, end), or the end.
inline const char* find_either(const char* at, const char* end, char one, char other) {
#if defined(__SSE2__)
    const __m128i ones = _mm_set1_epi8(one), others = _mm_set1_epi8(other);
    for (; end - at >= 16; at += 16) {
        const __m128i here = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
        const int found = _mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(here, ones), _mm_cmpeq_epi8(here, others)));
        if (found) return at + std::countr_zero(static_cast<unsigned>(found));
    }
#endif
    while (at < end && *at != one && *at != other) ++at;
    return at;
}

/// Bit masks of the blanks and the line feeds among 64 bytes.
struct Marks {
    uint64_t blanks;
    uint64_t feeds;
};

inline Marks mark_64_bytes(const char* bytes) {
    Marks marks{0, 0};
#if defined(__SSE2__)
    const __m128i space = _mm_set1_epi8(' '), tab = _mm_set1_epi8('\t'), feed = _mm_set1_epi8('\n');
    for (int part = 0; part < 4; ++part) {
        const __m128i here = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes) + part);
        const __m128i blank = _mm_or_si128(_mm_cmpeq_epi8(here, space), _mm_cmpeq_epi8(here, tab));
        marks.blanks |= static_cast<uint64_t>(static_cast<uint16_t>(_mm_movemask_epi8(blank))) << (16 * part);
        marks.feeds |= static_cast<uint64_t>(static_cast<uint16_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(here, feed))))
                       << (16 * part);
    }
#else
    for (int i = 0; i < 64; ++i) {
        marks.blanks |= static_cast<uint64_t>(is_blank(bytes[i])) << i;
        marks.feeds |= static_cast<uint64_t>(bytes[i] == '\n') << i;
    }
#endif
    return marks;
}

/// A line and its fields: up to `kMost` of them, and the number of all.
class SplitLine {
  public:
    static constexpr int kMost = 6;

    /// Splits the line that starts at `begin`; `end` is the end of the whole text.
    SplitLine(const char* begin, const char* end) : begin_(begin) {
        // Nearly all lines end within 64 bytes, where a few bit operations find all fields at once.
        if (end - begin >= 64) {
            const Marks marks = mark_64_bytes(begin);
            if (marks.feeds) {
                split_short(marks);
                return;
            }
        }
        split_long(end);
    }

    const char* begin() const { return begin_; }
    const char* next() const { return next_; }
    int64_t count() const { return count_; }
    bool has_content() const { return count_ > 0 && fields_[0][0] != '#'; }
    Id operator[](int field) const { return fields_[field]; }

  private:
    void split_short(const Marks& marks) {
        const int feed = std::countr_zero(marks.feeds);
        const int length = feed > 0 && begin_[feed - 1] == '\r' ? feed - 1 : feed;
        next_ = begin_ + feed + 1;
        // `length` is at most 63, so the bit after the last byte always exists and ends the last field.
        const uint64_t content = ~marks.blanks & ((uint64_t{1} << length) - 1);
        uint64_t starts = content & ~(content << 1);
        uint64_t ends = ~content & (content << 1);
        for (count_ = 0; count_ < kMost && starts; ++count_) {
            const int start = std::countr_zero(starts), stop = std::countr_zero(ends);
            fields_[count_] = Id(begin_ + start, static_cast<size_t>(stop - start));
            starts &= starts - 1;
            ends &= ends - 1;
        }
        if (starts) count_ += std::popcount(starts);
    }

    void split_long(const char* end) {
        const Line line = line_at(begin_, end);
        next_ = line.next;
        count_ = 0;
        for (const char* at = line.begin;;) {
            while (at < line.end && is_blank(*at)) ++at;
            if (at == line.end) return;
            const char* start = at;
            while (at < line.end && !is_blank(*at)) ++at;
            if (count_ < kMost) fields_[count_] = Id(start, static_cast<size_t>(at - start));
            ++count_;
        }
    }

    const char* begin_;
    const char* next_;
    int64_t count_;
    Id fields_[kMost];
};

enum class Number { valid, malformed, overflow };

namespace detail {

/// Returns whether the digits in [begin, end), scaled by 10^exponent, are too large rather than too small for a float64.
/// Called only for texts out of range, so the decimal magnitude of the first nonzero digit decides.
inline bool is_huge(const char* begin, const char* end, int64_t exponent) {
    const char* point = begin;
    while (point < end && is_digit(*point)) ++point;
    for (const char* p = begin; p < end && (is_digit(*p) || *p == '.'); ++p) {
        if (*p == '.' || *p == '0') continue;
        const int64_t places = p < point ? point - p : point - p + 1;
        return places + exponent > 0;
    }
    return false;
}

/// Returns the correctly rounded value of a text that is known to be a decimal number without a sign.
inline Number convert_slowly(const char* begin, const char* end, int64_t exponent, double& value) {
#if defined(__cpp_lib_to_chars)
    const auto result = std::from_chars(begin, end, value);
    if (result.ec == std::errc::result_out_of_range) {
        if (is_huge(begin, end, exponent)) return Number::overflow;
        value = 0.0;
    }
#else
    value = std::strtod(std::string(begin, end).c_str(), nullptr);
    if (value == std::numeric_limits<double>::infinity()) return Number::overflow;
    (void)exponent;
#endif
    return Number::valid;
}

}  // namespace detail

/// Reads a whole field matching `[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?`, correctly rounded.
inline Number parse_number(Id field, double& value) {
    static constexpr double kExactPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                              1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char* p = field.data();
    const char* const end = p + field.size();
    bool negative = false;
    if (p < end && (*p == '+' || *p == '-')) negative = *p++ == '-';
    const char* const digits = p;
    uint64_t mantissa = 0;
    while (p < end && is_digit(*p)) mantissa = mantissa * 10 + static_cast<uint64_t>(*p++ - '0');
    int64_t digit_count = p - digits;
    int64_t fraction = 0;
    if (p < end && *p == '.') {
        const char* const start = ++p;
        while (p < end && is_digit(*p)) mantissa = mantissa * 10 + static_cast<uint64_t>(*p++ - '0');
        fraction = p - start;
        digit_count += fraction;
    }
    if (digit_count == 0) return Number::malformed;
    int64_t exponent = 0;
    if (p < end && (*p == 'e' || *p == 'E')) {
        bool down = false;
        if (++p < end && (*p == '+' || *p == '-')) down = *p++ == '-';
        if (p == end || !is_digit(*p)) return Number::malformed;
        // Far beyond any float64, the exact exponent does not matter; the cap prevents overflow.
        for (; p < end && is_digit(*p); ++p) {
            if (exponent < (int64_t{1} << 40)) exponent = exponent * 10 + (*p - '0');
        }
        if (down) exponent = -exponent;
    }
    if (p != end) return Number::malformed;
    const int64_t scale = exponent - fraction;
    // Up to 2^53 and 10^22 both operands are exact, so one division or product rounds correctly.
    if (digit_count <= 19 && mantissa <= (uint64_t{1} << 53) && scale >= -22 && scale <= 22) {
        const double exact = static_cast<double>(mantissa);
        value = scale < 0 ? exact / kExactPowers[-scale] : exact * kExactPowers[scale];
    } else if (const Number answer = detail::convert_slowly(digits, end, exponent, value); answer != Number::valid) {
        return answer;
    }
    if (negative) value = -value;
    return Number::valid;
}

}  // namespace gainful
