// Room for large columns, and a hint for what is read soon.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#if defined(__linux__)
#include <malloc.h>
#include <sys/mman.h>
#endif

namespace gainful {

/// Has memory fetched that is about to be read, where the compiler knows how to ask for it. The empty instruction keeps GCC
/// from taking functions that only fetch for ones without an effect, and dropping them.
inline void prefetch([[maybe_unused]] const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
    __asm__ volatile("");
#endif
}

/// Reserves room; where it is large, in large pages if the system has them: new pages cost more than filling them does.
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
    madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);  // a wish: it does not matter if it fails
#endif
}

/// The same, filled with zeros.
template <class T>
void make_room(std::vector<T>& values, size_t count) {
    reserve_room(values, count);
    values.resize(count);
}

/// Gives the system back what a thread of ours has freed: nobody else would get it.
inline void return_freed_memory() {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

}  // namespace gainful
