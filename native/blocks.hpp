// Joins a run's text block by block as it arrives, holding only one block at a time.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "join.hpp"
#include "lists.hpp"

namespace gainful {

/// Accepts a text in pieces of any size. A list is joined once the next query begins. If the text has faults, or lists are
/// interleaved over more than a block, the join fails and needs the whole text.
class BlockJoin {
  public:
    static constexpr size_t kBlock = size_t{1} << 23, kMost = size_t{1} << 31;
    /// Bytes per query without judgments, here and as a Python object, in addition to copies of its ID.
    static constexpr size_t kExtraQuery = 200, kCopies = 3;

    /// `most` limits the bytes held for a single list; `block` is the minimum number of bytes joined at a time.
    BlockJoin(const JudgmentIndex& index, const JoinOptions& options, size_t threads, const Progress& progress,
              size_t most = kMost, size_t block = kBlock)
        : index_(index), options_(options), threads_(threads), progress_(progress), join_(index, options, threads, progress),
          most_(most), block_(std::clamp<size_t>(most / 16, 1, std::max<size_t>(1, block))), wanted_(block_) {}

    /// Returns room for the next bytes; `taken` receives their number and returns whether to continue.
    std::pair<char*, size_t> room() {
        if (size_ - used_ < wanted_ / 2 || size_ == used_) {
            auto larger = std::make_unique_for_overwrite<char[]>(used_ + wanted_);
            if (used_) std::memcpy(larger.get(), text_.get(), used_);
            text_ = std::move(larger);
            size_ = used_ + wanted_;
        }
        return {text_.get() + used_, size_ - used_};
    }

    bool taken(size_t bytes) {
        used_ += bytes;
        if (used_ >= wanted_ && !failed_) go_on(false);
        return !failed_;
    }

    bool feed(const char* bytes, size_t size) {
        while (size && !failed_) {
            const auto [begin, space] = room();
            const size_t part = std::min(size, space);
            std::memcpy(begin, bytes, part);
            bytes += part;
            size -= part;
            taken(part);
        }
        return !failed_;
    }

    std::optional<Joined> finish() {
        if (!failed_) go_on(true);
        if (failed_) return std::nullopt;
        return join_.finish();
    }

  private:
    /// Joins all complete lists; on failure nothing is joined, and the caller must start over.
    void go_on(bool is_last) {
        failed_ = !join_whole_lists(is_last);
        if (failed_) progress_.add(-counted_);
    }

    bool join_whole_lists(bool is_last) {
        const char* const begin = text_.get();
        const char* const end = is_last ? begin + used_ : end_of_lines(begin, begin + used_);
        const char* const first = is_first_ ? skip_byte_order_mark(begin, end) : begin;
        const Grouping grouping = group_by_query(first, end, threads_);
        const char* const held = is_last ? end : begin_of_last_list(grouping, end);
        const std::vector<int64_t> places = places_of(grouping.query_ids, index_, threads_);
        std::vector<size_t> whole;
        std::vector<Id> ids;
        std::vector<int64_t> queries;
        for (size_t query = 0; query < grouping.query_ids.size(); ++query) {
            if (grouping.segments[grouping.offsets[query]].begin >= held) continue;
            if (grouping.segments[grouping.offsets[query + 1] - 1].end > held) return false;
            if (!is_new(grouping.query_ids[query], places[query])) return false;
            whole.push_back(query);
            queries.push_back(places[query]);
            ids.push_back(grouping.query_ids[query]);
        }
        int64_t listed = 0;
        for (const size_t query : whole) listed += bytes_of_list(grouping, query);
        counted_ += listed;
        join_.add(ids, queries, [&](size_t list, ListJoiner& joiner) {
            read_list(grouping, whole[list], begin, end, options_.needs_rank(), joiner.rows, joiner.log.form);
            return bytes_of_list(grouping, whole[list]);
        });
        if (join_.has_faults()) return false;
        const size_t done = static_cast<size_t>(held - begin);
        progress_.add(static_cast<int64_t>(done) - listed);  // also counts comments and blank lines
        counted_ += static_cast<int64_t>(done) - listed;
        if (done) is_first_ = false;
        used_ -= done;
        if (used_) std::memmove(text_.get(), text_.get() + done, used_);
        // A single list that fills all the room needs more of it.
        wanted_ = std::max(block_, 2 * used_);
        return std::max(used_ + wanted_, extra_bytes_) <= std::max(most_, 2 * block_);
    }

    static const char* end_of_lines(const char* begin, const char* end) {
        while (end > begin && end[-1] != '\n') --end;
        return end;
    }

    /// Returns the start of the last list, which may continue; the end of the text if there is none.
    static const char* begin_of_last_list(const Grouping& grouping, const char* end) {
        const auto last = std::max_element(grouping.segments.begin(), grouping.segments.end(),
                                           [](const Segment& a, const Segment& b) { return a.begin < b.begin; });
        return last == grouping.segments.end() ? end : grouping.segments[grouping.offsets[last->query]].begin;
    }

    /// Returns whether no earlier block had a list for this query.
    bool is_new(Id id, int64_t query) {
        if (query >= 0) return !join_.has_answered(static_cast<size_t>(query));
        extra_bytes_ += kExtraQuery + kCopies * id.size();
        return extra_.emplace(id).second;
    }

    const JudgmentIndex& index_;
    const JoinOptions options_;
    const size_t threads_;
    const Progress progress_;
    ListJoin join_;
    std::unordered_set<std::string> extra_;
    std::unique_ptr<char[]> text_;
    const size_t most_, block_;
    size_t size_ = 0, used_ = 0, wanted_, extra_bytes_ = 0;
    int64_t counted_ = 0;
    bool is_first_ = true, failed_ = false;
};

}  // namespace gainful
