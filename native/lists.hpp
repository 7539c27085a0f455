// Groups lines into one list per query, wherever they are in the text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "faults.hpp"
#include "ids.hpp"
#include "parallel.hpp"
#include "text.hpp"

namespace gainful {

/// Smaller pieces are not worth a thread. Fuzzers, which use short texts, set it lower.
#if !defined(GAINFUL_SMALLEST_PIECE)
#define GAINFUL_SMALLEST_PIECE (1 << 16)
#endif

/// Cuts a text into pieces of whole lines, a few per thread, none much larger than `largest`.
inline std::vector<const char*> cut_at_lines(const char* begin, const char* end, size_t threads,
                                             int64_t largest = std::numeric_limits<int64_t>::max()) {
    constexpr int64_t kSmallest = GAINFUL_SMALLEST_PIECE;
    const int64_t size = end - begin;
    const int64_t few = threads == 1 ? 1 : static_cast<int64_t>(threads) * 4;
    const int64_t pieces = std::clamp<int64_t>(size / kSmallest, 1, std::max(few, size / largest));
    std::vector<const char*> cuts{begin};
    for (int64_t i = 1; i < pieces; ++i) {
        const char* wanted = std::max(begin + size / pieces * i, cuts.back());
        cuts.push_back(wanted < end ? line_at(wanted, end).next : end);
    }
    cuts.push_back(end);
    return cuts;
}

/// The permutation that sorts IDs by bytes, and the rank of every ID.
struct ByteOrder {
    std::vector<uint32_t> sorted;
    std::vector<uint32_t> place;

    explicit ByteOrder(const std::vector<Id>& ids) : sorted(ids.size()), place(ids.size()) {
        // The first eight bytes as a number distinguish most IDs and are contiguous in memory, unlike the IDs.
        struct Key {
            uint64_t beginning;
            uint32_t id;
        };
        std::vector<Key> keys(ids.size());
        for (size_t i = 0; i < ids.size(); ++i) keys[i] = {beginning_of(ids[i]), static_cast<uint32_t>(i)};
        const auto is_before = [&](const Key& a, const Key& b) {
            return a.beginning != b.beginning ? a.beginning < b.beginning : ids[a.id] < ids[b.id];
        };
        // Ascending numbers consist of a few sorted runs in byte order, by their length.
        constexpr int kMostParts = 8;
        auto sorted_end = std::is_sorted_until(keys.begin(), keys.end(), is_before);
        for (int parts = 1; parts < kMostParts && sorted_end != keys.end(); ++parts) {
            const auto part_end = std::is_sorted_until(sorted_end, keys.end(), is_before);
            std::inplace_merge(keys.begin(), sorted_end, part_end, is_before);
            sorted_end = part_end;
        }
        if (sorted_end != keys.end()) std::sort(keys.begin(), keys.end(), is_before);
        for (size_t i = 0; i < keys.size(); ++i) {
            sorted[i] = keys[i].id;
            place[keys[i].id] = static_cast<uint32_t>(i);
        }
    }

    std::vector<Id> apply(const std::vector<Id>& ids) const {
        std::vector<Id> result;
        result.reserve(ids.size());
        for (const uint32_t i : sorted) result.push_back(ids[i]);
        return result;
    }

  private:
    static uint64_t beginning_of(Id id) {
        uint64_t number = 0;
        if (id.size() >= 8) {
            for (size_t i = 0; i < 8; ++i) number = number << 8 | static_cast<unsigned char>(id[i]);
            return number;
        }
        for (size_t i = 0; i < 8; ++i) number = number << 8 | (i < id.size() ? static_cast<unsigned char>(id[i]) : 0);
        return number;
    }
};

/// The distinct IDs of several tables in byte order; places[table][number in the table] is an ID's position among them.
struct Numbering {
    std::vector<Id> ids;
    std::vector<std::vector<uint32_t>> places;

    explicit Numbering(const std::vector<const IdTable*>& tables) : places(tables.size()) {
        size_t count = 0;
        for (const IdTable* table : tables) count += table->ids().size();
        std::vector<Id> all;
        reserve_room(all, count);
        reserve_room(ids, count);
        for (const IdTable* table : tables) all.insert(all.end(), table->ids().begin(), table->ids().end());
        ByteOrder order(all);
        for (const uint32_t i : order.sorted) {
            if (ids.empty() || ids.back() != all[i]) ids.push_back(all[i]);
            order.place[i] = static_cast<uint32_t>(ids.size() - 1);
        }
        auto next = order.place.begin();
        for (size_t i = 0; i < tables.size(); ++i) {
            const auto end = next + static_cast<ptrdiff_t>(tables[i]->ids().size());
            places[i].assign(next, end);
            next = end;
        }
    }
};

/// Consecutive lines with the same first field.
struct Segment {
    const char* begin;
    const char* end;
    uint32_t query;
};

/// All queries of a text in byte order, each with its segments in the order of the text.
struct Grouping {
    std::vector<Id> query_ids;
    std::vector<Segment> segments;
    std::vector<size_t> offsets;  // segments of query i are offsets[i] : offsets[i + 1]
};

namespace detail {

inline void find_segments(const char* begin, const char* end, IdTable& queries, std::vector<Segment>& segments) {
    Id current;
    for (const char* at = begin; at < end;) {
        const Line line = line_at(at, end);
        at = line.next;
        // Most lines continue the query of the previous one: one comparison, no search for the field's end.
        const size_t size = current.size();
        if (size && static_cast<size_t>(line.end - line.begin) > size && is_blank(line.begin[size]) &&
            std::memcmp(line.begin, current.data(), size) == 0) {
            segments.back().end = line.next;
            continue;
        }
        const SplitLine split(line.begin, end);
        if (!split.has_content()) continue;
        const Id query = split[0];
        if (size && query == current) {
            segments.back().end = line.next;
            continue;
        }
        current = query;
        segments.push_back({line.begin, line.next, queries.number_of(query)});
    }
}

}  // namespace detail

inline Grouping group_by_query(const char* begin, const char* end, size_t threads) {
    const std::vector<const char*> cuts = cut_at_lines(begin, end, threads);
    const size_t pieces = cuts.size() - 1;
    std::vector<IdTable> tables(pieces);
    std::vector<std::vector<Segment>> found(pieces);
    for_each_task(pieces, threads, [&](size_t, size_t i) {
        detail::find_segments(cuts[i], cuts[i + 1], tables[i], found[i]);
    });

    std::vector<const IdTable*> queries;
    for (const IdTable& table : tables) queries.push_back(&table);
    Numbering numbering(queries);

    Grouping result;
    result.query_ids = std::move(numbering.ids);
    result.offsets.assign(result.query_ids.size() + 1, 0);
    for (size_t i = 0; i < pieces; ++i) {
        for (Segment& segment : found[i]) {
            segment.query = numbering.places[i][segment.query];
            ++result.offsets[segment.query + 1];
        }
    }
    std::partial_sum(result.offsets.begin(), result.offsets.end(), result.offsets.begin());
    std::vector<size_t> next(result.offsets.begin(), result.offsets.end() - 1);
    result.segments.resize(result.offsets.back());
    for (std::vector<Segment>& piece : found) {
        for (const Segment& segment : piece) result.segments[next[segment.query]++] = segment;
        std::vector<Segment>().swap(piece);
    }
    return result;
}

/// Rounds to the nearest float32, as the processor does. A cast of a value outside float32's range would be undefined.
inline float to_float32(double value) {
    constexpr double kLargest = std::numeric_limits<float>::max(), kInfinite = 0x1.ffffffp127;
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    if (value >= kInfinite) return kInfinity;
    if (value <= -kInfinite) return -kInfinity;
    return static_cast<float>(std::clamp(value, -kLargest, kLargest));
}

/// One retrieved document as it was read.
struct Row {
    Id document;
    uint64_t hash;
    double score;
    double rank;  // NaN if it is not a number
    double key;   // smaller is better; set when the list is ordered
    int64_t where;
};

/// A run line is `query Q0 document rank score tag`. Returns false for lines without content and for faults.
inline bool read_run_line(const SplitLine& line, const char* text, bool needs_rank, Row& row, Faults& faults) {
    if (!line.has_content()) return false;
    row.where = line.begin() - text;
    if (line.count() != 6) {
        faults.add(row.where, FaultCode::fields, line.count());
        return false;
    }
    row.document = line[2];
    row.hash = hash_id(row.document);
    if (const Number number = parse_number(line[4], row.score); number != Number::valid) {
        faults.add(row.where, number == Number::overflow ? FaultCode::overflow : FaultCode::number);
        return false;
    }
    if (parse_number(line[3], row.rank) != Number::valid) {
        if (needs_rank) {
            faults.add(row.where, FaultCode::rank);
            return false;
        }
        row.rank = std::numeric_limits<double>::quiet_NaN();
    }
    return true;
}

/// Appends the rows of one query, in the order of the text [text, end).
inline void read_list(const Grouping& grouping, size_t query, const char* text, const char* end, bool needs_rank,
                      std::vector<Row>& rows, Faults& faults) {
    for (size_t s = grouping.offsets[query]; s < grouping.offsets[query + 1]; ++s) {
        const Segment& segment = grouping.segments[s];
        for (const char* at = segment.begin; at < segment.end;) {
            const SplitLine line(at, end);
            at = line.next();
            rows.emplace_back();
            if (!read_run_line(line, text, needs_rank, rows.back(), faults)) rows.pop_back();
        }
    }
}

inline int64_t bytes_of_list(const Grouping& grouping, size_t query) {
    int64_t bytes = 0;
    for (size_t s = grouping.offsets[query]; s < grouping.offsets[query + 1]; ++s) {
        bytes += grouping.segments[s].end - grouping.segments[s].begin;
    }
    return bytes;
}

}  // namespace gainful
