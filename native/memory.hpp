// Memory for large columns, and prefetching.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#if defined(__linux__)
#include <malloc.h>
#include <sys/mman.h>
#endif

namespace gainful {

/// Prefetches memory that is about to be read, if the compiler supports it. The empty instruction keeps GCC from dropping
/// functions that only prefetch as having no effect.
inline void prefetch([[maybe_unused]] const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
    __asm__ volatile("");
#endif
}

/// Reserves memory, in huge pages if it is large and the system has them: page faults cost more than filling pages.
template <class T>
void reserve_room(std::vector<T>& values, size_t count) {
    if (count <= values.capacity()) return;
    values.reserve(count);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    constexpr uintptr_t kPage = 4096;
    constexpr size_t kLarge = size_t{1} << 22;
    const size_t bytes = values.capacity() * sizeof(T);
    if (bytes < kLarge) return;
    const uintptr_t begin = reinterpret_cast<uintptr_t>(values.data());
    const uintptr_t first = (begin + kPage - 1) / kPage * kPage, last = (begin + bytes) / kPage * kPage;
    madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);  // a hint that may fail
#endif
}

/// Likewise, filled with zeros.
template <class T>
void make_room(std::vector<T>& values, size_t count) {
    reserve_room(values, count);
    values.resize(count);
}

/// Returns memory freed by one of our threads to the system, since other threads would not reuse it.
inline void return_freed_memory() {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

}  // namespace gainful
