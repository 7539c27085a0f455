// Joins a run text with the judgments.
#pragma once

#include <atomic>
#include <cstdint>

#include "join.hpp"

namespace gainful {

inline Joined join_text(const char* text, const char* end, const JudgmentIndex& index, const JoinOptions& options,
                        size_t workers, const Progress& progress) {
    std::atomic<int64_t> listed{0};
    const Grouping grouping = group_by_query(skip_byte_order_mark(text, end), end, workers);
    Joined joined = join_lists(grouping.query_ids, index, options, workers, progress, [&](size_t list, ListJoiner& joiner) {
        read_list(grouping, list, text, end, options.needs_rank(), joiner.rows, joiner.log.form);
        const int64_t bytes = bytes_of_list(grouping, list);
        listed += bytes;
        return bytes;
    });
    // Also count comments and blank lines before the first list, which belong to no list.
    progress.add(end - text - listed);
    return joined;
}

}  // namespace gainful
