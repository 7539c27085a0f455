// Shared by the harnesses: checks that end the process, buffers of exact size, bitwise equality.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "../native/faults.hpp"
#include "../native/text.hpp"

#define CHECK(condition)                                                                \
    do {                                                                                \
        if (!(condition)) {                                                             \
            std::fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
            std::abort();                                                               \
        }                                                                               \
    } while (false)

namespace fuzz {

/// A copy in a separate block, so that the sanitizer detects every read beyond it.
class Text {
  public:
    explicit Text(std::string_view bytes) : bytes_(new char[bytes.size()]), size_(bytes.size()) {
        if (size_) std::memcpy(bytes_.get(), bytes.data(), size_);
    }
    const char* begin() const { return bytes_.get(); }
    const char* end() const { return bytes_.get() + size_; }
    int64_t size() const { return static_cast<int64_t>(size_); }

  private:
    std::unique_ptr<char[]> bytes_;
    size_t size_;
};

/// Choices made by the input's first bytes; 0 once they are used up.
class Draw {
  public:
    Draw(const uint8_t* data, size_t size) : at_(data), end_(data + size) {}

    uint8_t byte() { return at_ < end_ ? *at_++ : 0; }
    int64_t below(int64_t limit) { return byte() % limit; }
    bool flip() { return byte() & 1; }
    std::string_view rest() const { return {reinterpret_cast<const char*>(at_), static_cast<size_t>(end_ - at_)}; }

    template <class T>
    T value() {
        char bytes[sizeof(T)];
        for (char& byte_of_value : bytes) byte_of_value = static_cast<char>(byte());
        T result;
        std::memcpy(&result, bytes, sizeof(T));
        return result;
    }

  private:
    const uint8_t* at_;
    const uint8_t* end_;
};

/// Bitwise equality: NaN equals NaN, and -0 differs from 0.
template <class T>
bool same(const std::vector<T>& one, const std::vector<T>& other) {
    return one.size() == other.size() && (one.empty() || !std::memcmp(one.data(), other.data(), one.size() * sizeof(T)));
}

inline bool same(const std::vector<gainful::Id>& one, const std::vector<gainful::Id>& other) { return one == other; }
inline bool same(const std::vector<std::string>& one, const std::vector<std::string>& other) { return one == other; }

inline bool same(const gainful::Faults& one, const gainful::Faults& other) {
    return one.count() == other.count() && same(one.earliest(), other.earliest());
}

inline void check_faults(const gainful::Faults& faults, const Text& text) {
    const std::vector<gainful::Fault>& kept = faults.earliest();
    CHECK(static_cast<int64_t>(kept.size()) == std::min<int64_t>(faults.count(), 10));
    for (size_t i = 0; i < kept.size(); ++i) {
        CHECK(kept[i].where >= 0 && kept[i].where < text.size());
        CHECK(i == 0 || kept[i - 1].where <= kept[i].where);
    }
}

inline void check_spans(const std::vector<int64_t>& start, const std::vector<int64_t>& length, int64_t size, int64_t least) {
    CHECK(start.size() == length.size());
    for (size_t i = 0; i < start.size(); ++i) {
        CHECK(start[i] >= 0 && length[i] >= least && start[i] <= size && length[i] <= size - start[i]);
    }
}

/// Places of lines in the text, one after the other in [first, last).
inline void check_lines(const std::vector<int64_t>& line, size_t first, size_t last, const Text& text) {
    for (size_t i = first; i < last; ++i) {
        CHECK(line[i] >= 0 && line[i] < text.size());
        CHECK(line[i] == 0 || text.begin()[line[i] - 1] == '\n' || line[i] == 3);  // 3: after a byte order mark
        CHECK(i == first || line[i - 1] < line[i]);
    }
}

/// Counts lines with more than blanks and a comment, in the simplest way.
inline int64_t count_lines_with_content(const Text& text) {
    std::string_view left(text.begin(), static_cast<size_t>(text.size()));
    if (left.substr(0, 3) == "\xEF\xBB\xBF") left.remove_prefix(3);
    int64_t count = 0;
    while (!left.empty()) {
        const size_t feed = std::min(left.find('\n'), left.size());
        std::string_view line = left.substr(0, feed);
        left.remove_prefix(std::min(feed + 1, left.size()));
        if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        const size_t first = line.find_first_not_of(" \t");
        count += first != std::string_view::npos && line[first] != '#';
    }
    return count;
}

}  // namespace fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
