// A run's text joined block by block as it comes in, so that no more of it is held at a time than that.
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

/// Takes a text in pieces of any size. Lists are joined once they are whole, which the next query tells. A text with faults,
/// or in which lists are mixed over more than a block, cannot be joined like this; it takes the whole text then.
class BlockJoin {
  public:
    static constexpr size_t kBlock = size_t{1} << 23, kMost = size_t{1} << 31;
    /// The bytes that a query without judgments takes, here and as an object of Python.
    static constexpr size_t kExtraQuery = 200;

    /// `most` is how many bytes a list may make it hold, `block` how much is joined at a time, at least.
    BlockJoin(const JudgmentIndex& index, const JoinOptions& options, size_t threads, const Progress& progress,
              size_t most = kMost, size_t block = kBlock)
        : index_(index), options_(options), threads_(threads), progress_(progress), join_(index, options, threads, progress),
          most_(most), block_(std::clamp<size_t>(most / 16, 1, std::max<size_t>(1, block))), wanted_(block_) {}

    /// Room for the next bytes; `taken` is to be told how many there were, and says whether to go on.
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
    /// Joins what can be; where that fails, nothing of it is done, and somebody has to begin anew.
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
        progress_.add(static_cast<int64_t>(done) - listed);  // comments and blank lines are done, too
        counted_ += static_cast<int64_t>(done) - listed;
        if (done) is_first_ = false;
        used_ -= done;
        if (used_) std::memmove(text_.get(), text_.get() + done, used_);
        // One list that fills all the room needs more of it.
        wanted_ = std::max(block_, 2 * used_);
        return std::max(used_ + wanted_, kExtraQuery * extra_.size()) <= std::max(most_, 2 * block_);
    }

    static const char* end_of_lines(const char* begin, const char* end) {
        while (end > begin && end[-1] != '\n') --end;
        return end;
    }

    /// Where the list begins that the text ends with, which may go on; the end of the text where there is none.
    static const char* begin_of_last_list(const Grouping& grouping, const char* end) {
        const auto last = std::max_element(grouping.segments.begin(), grouping.segments.end(),
                                           [](const Segment& a, const Segment& b) { return a.begin < b.begin; });
        return last == grouping.segments.end() ? end : grouping.segments[grouping.offsets[last->query]].begin;
    }

    /// Whether no earlier block had a list of this query.
    bool is_new(Id id, int64_t query) {
        return query >= 0 ? !join_.has_answered(static_cast<size_t>(query)) : extra_.emplace(id).second;
    }

    const JudgmentIndex& index_;
    const JoinOptions options_;
    const size_t threads_;
    const Progress progress_;
    ListJoin join_;
    std::unordered_set<std::string> extra_;
    std::unique_ptr<char[]> text_;
    const size_t most_, block_;
    size_t size_ = 0, used_ = 0, wanted_;
    int64_t counted_ = 0;
    bool is_first_ = true, failed_ = false;
};

}  // namespace gainful
