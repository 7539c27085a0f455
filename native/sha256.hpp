// SHA-256 of files, by the processor's own instructions; where it has none, somebody else has to do it.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "files.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#define GAINFUL_SHA256
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace gainful {

using Digest = std::array<uint8_t, 32>;

#if defined(GAINFUL_SHA256)
namespace detail {

alignas(16) constexpr uint32_t kSha256[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
    0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
    0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
    0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

/// The state after some whole blocks of 64 bytes.
__attribute__((target("sha,sse4.1"))) inline void add_blocks(uint32_t* state, const uint8_t* at, size_t blocks) {
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    const auto load = [](const void* from) __attribute__((target("sha,sse4.1"))) {
        return _mm_loadu_si128(static_cast<const __m128i*>(from));
    };
    // The instructions want the eight words as ABEF and CDGH.
    const __m128i badc = _mm_shuffle_epi32(load(state), 0xB1), hgfe = _mm_shuffle_epi32(load(state + 4), 0x1B);
    __m128i abef = _mm_alignr_epi8(badc, hgfe, 8), cdgh = _mm_blend_epi16(hgfe, badc, 0xF0);
    for (; blocks; --blocks, at += 64) {
        const __m128i abef_before = abef, cdgh_before = cdgh;
        __m128i words[4];
        for (int i = 0; i < 4; ++i) words[i] = _mm_shuffle_epi8(load(at + 16 * i), big_endian);
#pragma GCC unroll 16
        for (int i = 0; i < 16; ++i) {
            const __m128i here = words[i % 4], next = words[(i + 1) % 4], last = words[(i + 3) % 4];
            const __m128i keyed = _mm_add_epi32(here, load(kSha256 + 4 * i));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, keyed);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(keyed, 0x0E));
            const __m128i shifted = _mm_alignr_epi8(last, words[(i + 2) % 4], 4);
            words[i % 4] = _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(here, next), shifted), last);
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    const __m128i feba = _mm_shuffle_epi32(abef, 0x1B), dchg = _mm_shuffle_epi32(cdgh, 0xB1);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(state), _mm_blend_epi16(feba, dchg, 0xF0));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

}  // namespace detail

inline bool can_hash() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    const bool has_sse = __get_cpuid(1, &a, &b, &c, &d) && (c >> 9 & 1) && (c >> 19 & 1);
    return has_sse && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 29 & 1);
}

/// The hash of a file; nothing where it cannot be read, changes meanwhile, or nobody waits for it any more.
template <class GiveUp>
std::optional<Digest> sha256_of(const std::string& path, GiveUp give_up) {
    constexpr size_t kPiece = size_t{1} << 18;  // stays in the cache of the core that hashes
    const OpenFile file(path);
    const auto buffer = std::make_unique_for_overwrite<char[]>(kPiece + 128);
    uint8_t* const bytes = reinterpret_cast<uint8_t*>(buffer.get());
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    uint64_t size = 0;
    size_t held = 0;
    for (int64_t read = 1; read > 0; size += static_cast<uint64_t>(read)) {
        if (give_up() || (read = file.read(buffer.get() + held, kPiece - held)) < 0) return std::nullopt;
        held += static_cast<size_t>(read);
        detail::add_blocks(state, bytes, held / 64);
        std::memmove(bytes, bytes + held / 64 * 64, held % 64);
        held %= 64;
    }
    // The end: a bit, zeros, and the number of bits.
    const size_t padded = held < 56 ? 64 : 128;
    std::memset(bytes + held, 0, padded - held);
    bytes[held] = 0x80;
    for (size_t i = 0; i < 8; ++i) bytes[padded - 1 - i] = static_cast<uint8_t>(8 * size >> (8 * i));
    detail::add_blocks(state, bytes, padded / 64);
    if (!file.is_unchanged()) return std::nullopt;
    Digest digest;
    for (size_t i = 0; i < 32; ++i) digest[i] = static_cast<uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
    return digest;
}
#else
inline bool can_hash() { return false; }

template <class GiveUp>
std::optional<Digest> sha256_of(const std::string&, GiveUp) {
    return std::nullopt;
}
#endif

}  // namespace gainful
