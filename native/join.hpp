// Joins a run's lists with the judgments: order by the policy, remove duplicates, apply the cutoff, query by query.
#pragma once

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "facts.hpp"
#include "faults.hpp"
#include "judgments.hpp"
#include "lists.hpp"
#include "parallel.hpp"

namespace gainful {

enum class Order { score = 0, rank = 1, input = 2 };
enum class Ties { document_descending = 0, document_ascending = 1, rank = 2, input = 3 };

/// A policy's conventions for lists, and the results that are wanted; see _core.pyi.
struct JoinOptions {
    Order order;
    Ties ties;
    bool float32;
    bool keep_first;
    int64_t depth;  // 0: all
    bool want_scores, want_rows, want_facts;

    JoinOptions(int order, int ties, bool float32, bool keep_first, int64_t depth, bool want_scores, bool want_rows,
                bool want_facts)
        : order(static_cast<Order>(order)), ties(static_cast<Ties>(ties)), float32(float32), keep_first(keep_first),
          depth(depth), want_scores(want_scores), want_rows(want_rows), want_facts(want_facts) {
        if (order < 0 || order > 2 || ties < 0 || ties > 3 || depth < 0)
            throw std::invalid_argument("there is no such order, rule for ties or depth");
    }

    bool needs_rank() const { return order == Order::rank || ties == Ties::rank; }
    double score_as_used(double score) const { return float32 ? to_float32(score) : score; }
};

/// Above this, a 64-bit float represents several integers.
constexpr double kLastExact = 9007199254740992.0;

struct Joined {
    std::vector<uint8_t> answered;
    std::vector<int64_t> retrieved, hit_offsets;
    std::vector<int32_t> hit_rank, hit_item;
    std::vector<int64_t> tied_hit;  // hits whose score another document of the list has
    std::vector<int32_t> tied_first, tied_last;
    std::vector<double> scores;
    std::vector<int64_t> rows;
    std::vector<std::string> extra_ids;
    std::vector<ListFacts> facts;  // by list, if requested
    std::vector<Id> list_ids;      // the queries of these lists
    int64_t list_count = 0, row_count = 0, duplicate_count = 0, rank_conflicts = 0, float32_ties = 0, tied_count = 0,
            inexact_ties = 0;
    Faults faults;
};

/// The workspace of one thread, and its results so far.
class ListJoiner {
  public:
    ListJoiner(const JudgmentIndex& index, const JoinOptions& options) : index_(index), options_(options) {}

    std::vector<Row> rows;  // rows of the current list, filled by the caller
    FaultLog log;
    int64_t row_count = 0, duplicate_count = 0, rank_conflicts = 0, float32_ties = 0, tied_count = 0,
            inexact_ties = 0;
    int64_t unreported = 0;  // progress not reported yet
    std::vector<int32_t> hit_rank, hit_item, tied_hit, tied_first, tied_last;
    std::vector<double> scores;
    std::vector<int64_t> ranked;  // places in the input of the retrieved documents, in rank order

    /// Orders the list and appends its hits. Returns the number of documents retrieved. A query of -1 has no judgments.
    /// `facts`, if requested, receives those of the list.
    int64_t join(int64_t query, Id query_id, ListFacts* facts) {
        row_count += static_cast<int64_t>(rows.size());
        const bool repeats = find_duplicates();
        order_rows();
        groups_.clear();
        if (options_.order == Order::score && query >= 0) inspect_scores();
        if (repeats) {
            drop_duplicates(query >= 0);
            if (!groups_.empty()) find_groups();
        }
        if (facts) *facts = inspect(query, query_id);
        if (options_.depth > 0 && order_.size() > static_cast<size_t>(options_.depth)) {
            order_.resize(static_cast<size_t>(options_.depth));
        }
        if (query >= 0) append_hits(static_cast<size_t>(query));
        return static_cast<int64_t>(order_.size());
    }

  private:
    /// Looks each document up among those before it; with `unique`, lists the first occurrences there.
    template <class Sequence, class OnRepeat>
    void visit_repeats(const Sequence& sequence, OnRepeat on_repeat) {
        const size_t size = slots_for(rows.size());
        seen_.assign(size, 0);
        for (const uint32_t i : sequence) {
            const Row& row = rows[i];
            size_t at = row.hash & (size - 1);
            while (seen_[at] != 0 && !(rows[seen_[at] - 1].hash == row.hash && rows[seen_[at] - 1].document == row.document)) {
                at = (at + 1) & (size - 1);
            }
            if (seen_[at] == 0) {
                seen_[at] = i + 1;
            } else {
                on_repeat(i, seen_[at] - 1);
            }
        }
    }

    bool find_duplicates() {
        order_.resize(rows.size());
        std::iota(order_.begin(), order_.end(), 0u);
        bool found = false;
        visit_repeats(order_, [&](uint32_t later, uint32_t first) {
            if (!found) repeat_ = {rows[later].where, rows[first].where};
            found = true;
            if (!options_.keep_first) log.duplicates.add(rows[later].where, FaultCode::duplicate, rows[first].where);
        });
        return found;
    }

    void drop_duplicates(bool counted) {
        std::vector<bool> repeated(rows.size(), false);
        visit_repeats(order_, [&](uint32_t later, uint32_t) { repeated[later] = true; });
        const size_t before = order_.size();
        std::erase_if(order_, [&](uint32_t i) { return repeated[i]; });
        if (counted) duplicate_count += static_cast<int64_t>(before - order_.size());
    }

    bool tie_before(const Row& a, const Row& b) const {
        if (options_.ties == Ties::input) return false;
        if (options_.ties == Ties::rank && a.rank != b.rank) return a.rank < b.rank;
        return options_.ties == Ties::document_ascending ? a.document < b.document : b.document < a.document;
    }

    bool before(uint32_t a, uint32_t b) const {
        const Row &first = rows[a], &second = rows[b];
        if (first.key != second.key) return first.key < second.key;
        if (tie_before(first, second)) return true;
        return a < b && !tie_before(second, first);
    }

    /// Sorts only what is needed: nothing if the input is in order, or only groups of equal keys if just these are not.
    void order_rows() {
        if (options_.order == Order::input) return;
        bool keys_ordered = true, ties_ordered = true;
        for (size_t i = 0; i < rows.size(); ++i) {
            rows[i].key = options_.order == Order::score ? -options_.score_as_used(rows[i].score) : rows[i].rank;
            if (i == 0 || rows[i].key > rows[i - 1].key) continue;
            if (rows[i].key < rows[i - 1].key) keys_ordered = false;
            else if (tie_before(rows[i], rows[i - 1])) ties_ordered = false;
        }
        const auto is_before = [this](uint32_t a, uint32_t b) { return before(a, b); };
        if (!keys_ordered) {
            std::sort(order_.begin(), order_.end(), is_before);
        } else if (!ties_ordered) {
            for (auto first = order_.begin(), end = first; first != order_.end(); first = end) {
                const double key = rows[*first].key;
                end = std::find_if(first, order_.end(), [&](uint32_t i) { return rows[i].key != key; });
                if (end - first > 1) std::sort(first, end, is_before);
            }
        }
    }

    /// Counts, over groups of equal scores, what deserves a notice; ties only above the cutoff.
    void inspect_scores() {
        const size_t depth = options_.depth > 0 ? static_cast<size_t>(options_.depth) : order_.size();
        double highest_rank = -std::numeric_limits<double>::infinity();
        for (size_t first = 0, end; first < order_.size(); first = end) {
            const Row& leader = rows[order_[first]];
            double highest_here = highest_rank;
            bool told_apart = false;
            for (end = first; end < order_.size() && rows[order_[end]].key == leader.key; ++end) {
                const Row& row = rows[order_[end]];
                if (row.rank < highest_rank) ++rank_conflicts;
                if (row.rank > highest_here) highest_here = row.rank;
                told_apart = told_apart || row.score != leader.score;
            }
            const int64_t seen = static_cast<int64_t>(std::min(end, depth) - std::min(first, depth));
            if (end - first > 1) {
                tied_count += seen;
                groups_.emplace_back(first, end);
            }
            if (told_apart) float32_ties += seen;
            if (end - first > 1 && !told_apart && std::abs(leader.score) >= kLastExact) inexact_ties += seen;
            highest_rank = highest_here;
        }
    }

    /// Finds the groups of equal scores again, after documents were dropped.
    void find_groups() {
        groups_.clear();
        for (size_t first = 0, end; first < order_.size(); first = end) {
            for (end = first + 1; end < order_.size() && rows[order_[end]].key == rows[order_[first]].key;) ++end;
            if (end - first > 1) groups_.emplace_back(first, end);
        }
    }

    ListFacts inspect(int64_t query, Id query_id) {
        constexpr size_t kTop = 10;
        ListInspector inspector(rows, order_, by_score_);
        ListFacts& facts = inspector.facts();
        const size_t depth = options_.depth > 0 ? static_cast<size_t>(options_.depth) : order_.size();
        facts.query = query;
        facts.retrieved = static_cast<int64_t>(std::min(depth, order_.size()));
        if (facts.duplicates) std::tie(facts.duplicate_at, facts.duplicate_of) = repeat_;
        inspector.find_self(query_id);
        if (query >= 0) inspector.find_unjudged(index_, static_cast<size_t>(query), std::min(depth, kTop));
        return facts;
    }

    void append_hits(size_t query) {
        constexpr size_t kFar = 12, kNear = 8, kNext = 4;
        const size_t size = order_.size();
        const auto hash_at = [&](size_t i) { return rows[order_[i]].hash; };
        const size_t hits_before = hit_rank.size();
        auto group = groups_.begin();
        size_t next_tied = groups_.empty() ? size : group->first;  // no document above it is tied
        for (size_t i = 0; i < size; ++i) {
            if (size - i > kFar) {
                index_.fetch_slot(query, hash_at(i + kFar));
                index_.fetch_item(query, hash_at(i + kNear));
                index_.fetch_id(query, hash_at(i + kNext));
            }
            const Row& row = rows[order_[i]];
            const int32_t item = index_.find(query, row.document, row.hash);
            if (item >= 0) {
                if (i >= next_tied) {
                    while (group != groups_.end() && group->second <= i) ++group;
                    next_tied = group == groups_.end() ? size : group->first;
                }
                // A group of which the depth leaves one document is none.
                if (i >= next_tied && next_tied + 1 < size) {
                    tied_hit.push_back(static_cast<int32_t>(hit_rank.size() - hits_before));
                    tied_first.push_back(static_cast<int32_t>(group->first + 1));
                    tied_last.push_back(static_cast<int32_t>(std::min(group->second, size)));
                }
                hit_rank.push_back(static_cast<int32_t>(i + 1));
                hit_item.push_back(item);
            }
            if (options_.want_scores) scores.push_back(options_.score_as_used(row.score));
            if (options_.want_rows) ranked.push_back(row.where);
        }
    }

    const JudgmentIndex& index_;
    const JoinOptions& options_;
    std::vector<uint32_t> order_;
    std::vector<uint32_t> seen_;
    std::vector<uint32_t> by_score_;
    std::vector<std::pair<size_t, size_t>> groups_;  // of several documents with equal scores: first, and one past the last
    std::pair<int64_t, int64_t> repeat_;  // the first repeated document of the list, and the place of its first occurrence
};

/// The join of a run's lists, which may arrive in several parts.
class ListJoin {
  public:
    ListJoin(const JudgmentIndex& index, const JoinOptions& options, size_t threads, const Progress& progress)
        : options_(options), progress_(progress), joiners_(std::max<size_t>(1, threads), ListJoiner(index, options_)),
          places_(index.query_count()) {
        result_.answered.assign(index.query_count(), 0);
        result_.retrieved.assign(index.query_count(), 0);
    }

    /// Joins the lists of these queries, given their positions in the index as `queries`, below 0 if it lacks them.
    /// `read(list, joiner)` fills joiner.rows and returns the progress that it accounts for.
    template <class Read>
    void add(const std::vector<Id>& query_ids, const std::vector<int64_t>& queries, Read read) {
        const size_t first = static_cast<size_t>(result_.list_count);
        result_.list_count += static_cast<int64_t>(query_ids.size());
        if (options_.want_facts) {
            result_.facts.resize(first + query_ids.size());
            result_.list_ids.insert(result_.list_ids.end(), query_ids.begin(), query_ids.end());
        }
        for_each_in_groups(query_ids.size(), joiners_.size(), [&](size_t worker, size_t list) {
            ListJoiner& joiner = joiners_[worker];
            joiner.rows.clear();
            joiner.unreported += read(list, joiner);
            const int64_t query = queries[list];
            const Place place{joiner.hit_rank.size(), joiner.tied_hit.size(), joiner.scores.size(), joiner.ranked.size(),
                              static_cast<uint32_t>(worker), 0, 0};
            ListFacts* const facts = options_.want_facts ? &result_.facts[first + list] : nullptr;
            const int64_t retrieved = joiner.join(query, query_ids[list], facts);
            if (query >= 0) {
                const size_t q = static_cast<size_t>(query);
                result_.answered[q] = 1;
                result_.retrieved[q] = retrieved;
                places_[q] = place;
                places_[q].hit_count = static_cast<uint32_t>(joiner.hit_rank.size() - place.hits);
                places_[q].tied_count = static_cast<uint32_t>(joiner.tied_hit.size() - place.ties);
            }
            // Threads that counted every short list would wait for each other.
            if (joiner.unreported >= kReported) progress_.add(std::exchange(joiner.unreported, 0));
        });
        for (ListJoiner& joiner : joiners_) progress_.add(std::exchange(joiner.unreported, 0));
        // A text with faults is refused, and a line without fields would be one long ID.
        for (size_t list = 0; list < query_ids.size() && !has_faults(); ++list) {
            if (queries[list] < 0) result_.extra_ids.emplace_back(query_ids[list]);
        }
    }

    bool has_answered(size_t query) const { return result_.answered[query] != 0; }

    bool has_faults() const {
        return std::any_of(joiners_.begin(), joiners_.end(), [](const ListJoiner& joiner) { return !joiner.log.is_empty(); });
    }

    /// Returns everything, query by query in the order of the index; can be called once.
    Joined finish() {
        FaultLog log;
        size_t hit_count = 0, score_count = 0, row_count = 0;
        for (const ListJoiner& joiner : joiners_) {
            log.merge(joiner.log);
            result_.row_count += joiner.row_count;
            result_.duplicate_count += joiner.duplicate_count;
            result_.rank_conflicts += joiner.rank_conflicts;
            result_.float32_ties += joiner.float32_ties;
            result_.tied_count += joiner.tied_count;
            result_.inexact_ties += joiner.inexact_ties;
            hit_count += joiner.hit_rank.size();
            score_count += joiner.scores.size();
            row_count += joiner.ranked.size();
        }
        result_.faults = log.reported();
        reserve_room(result_.hit_rank, hit_count);
        reserve_room(result_.hit_item, hit_count);
        reserve_room(result_.scores, score_count);
        reserve_room(result_.rows, row_count);
        reserve_room(result_.hit_offsets, places_.size() + 1);
        result_.hit_offsets.push_back(0);
        for (size_t query = 0; query < places_.size(); ++query) {
            const Place& place = places_[query];
            const ListJoiner& joiner = joiners_[place.worker];
            const auto copy = [](auto& to, const auto& from, size_t begin, size_t count) {
                if (from.empty()) return;  // not requested
                const auto first = from.begin() + static_cast<ptrdiff_t>(begin);
                to.insert(to.end(), first, first + static_cast<ptrdiff_t>(count));
            };
            const size_t retrieved = static_cast<size_t>(result_.retrieved[query]);
            copy(result_.hit_rank, joiner.hit_rank, place.hits, place.hit_count);
            copy(result_.hit_item, joiner.hit_item, place.hits, place.hit_count);
            copy(result_.tied_first, joiner.tied_first, place.ties, place.tied_count);
            copy(result_.tied_last, joiner.tied_last, place.ties, place.tied_count);
            for (size_t tie = place.ties; tie < place.ties + place.tied_count; ++tie) {
                result_.tied_hit.push_back(result_.hit_offsets.back() + joiner.tied_hit[tie]);
            }
            copy(result_.scores, joiner.scores, place.scores, retrieved);
            copy(result_.rows, joiner.ranked, place.rows, retrieved);
            result_.hit_offsets.push_back(static_cast<int64_t>(result_.hit_rank.size()));
        }
        std::sort(result_.extra_ids.begin(), result_.extra_ids.end());
        return std::move(result_);
    }

  private:
    static constexpr int64_t kReported = 1 << 16;

    /// The start of a query's hits, scores and rows among those of a joiner.
    struct Place {
        size_t hits, ties, scores, rows;
        uint32_t worker, hit_count, tied_count;
    };

    const JoinOptions options_;
    const Progress progress_;
    std::vector<ListJoiner> joiners_;
    std::vector<Place> places_;
    Joined result_;
};

/// Returns the positions of queries in the index, below 0 if it lacks them.
inline std::vector<int64_t> places_of(const std::vector<Id>& query_ids, const JudgmentIndex& index, size_t threads) {
    constexpr size_t kGroup = 1024;
    std::vector<int64_t> places(query_ids.size());
    for_each_task((places.size() + kGroup - 1) / kGroup, threads, [&](size_t, size_t group) {
        size_t guess = 0;
        for (size_t i = group * kGroup; i < std::min(places.size(), (group + 1) * kGroup); ++i) {
            places[i] = index.find_query(query_ids[i], guess);
            if (places[i] >= 0) guess = static_cast<size_t>(places[i]) + 1;
        }
    });
    return places;
}

/// Joins all lists of a source; see ListJoin::add.
template <class Read>
Joined join_lists(const std::vector<Id>& query_ids, const JudgmentIndex& index, const JoinOptions& options, size_t threads,
                  const Progress& progress, Read read) {
    ListJoin join(index, options, std::min(threads, query_ids.size()), progress);
    join.add(query_ids, places_of(query_ids, index, threads), read);
    return join.finish();
}

}  // namespace gainful
