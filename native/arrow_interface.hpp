// The structures of the Arrow C data and stream interfaces, and their release.
#pragma once

#include <cstdint>

namespace gainful {

// Names, order and types of the members are fixed by the interface.

struct ArrowSchema {
    const char* format;
    const char* name;
    const char* metadata;
    int64_t flags;
    int64_t n_children;
    ArrowSchema** children;
    ArrowSchema* dictionary;
    void (*release)(ArrowSchema*);
    void* private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void** buffers;
    ArrowArray** children;
    ArrowArray* dictionary;
    void (*release)(ArrowArray*);
    void* private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
    int (*get_next)(ArrowArrayStream*, ArrowArray* out);
    const char* (*get_last_error)(ArrowArrayStream*);
    void (*release)(ArrowArrayStream*);
    void* private_data;
};

/// Owns one of the structures above.
template <class T>
class Handed {
  public:
    Handed() = default;
    explicit Handed(const T& taken) : value(taken) {}
    Handed(Handed&& other) noexcept : value(other.value) { other.value.release = nullptr; }
    Handed& operator=(Handed&&) = delete;
    ~Handed() {
        if (value.release) value.release(&value);
    }

    T value{};
};

}  // namespace gainful
