// A run's lists: ordered by the policy, freed of duplicates, cut, and met with the judgments, query by query.
#pragma once

#include <cmath>
#include <cstdint>
#include <stdexcept>
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

/// What a policy says about lists, and what is wanted of them; see _core.pyi.
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

struct Joined {
    std::vector<uint8_t> answered;
    std::vector<int64_t> retrieved, hit_offsets;
    std::vector<int32_t> hit_rank, hit_item;
    std::vector<double> scores;
    std::vector<int64_t> rows;
    std::vector<Id> extra_ids;
    std::vector<ListFacts> facts;  // by list, when they were asked for
    std::vector<Id> list_ids;      // the queries of these lists
    int64_t list_count = 0, row_count = 0, duplicate_count = 0, rank_conflicts = 0, float32_ties = 0;
    Faults faults;
};

/// One thread's room to work in, and what it has found so far.
class ListJoiner {
  public:
    ListJoiner(const JudgmentIndex& index, const JoinOptions& options) : index_(index), options_(options) {}

    std::vector<Row> rows;  // of the list at hand; the caller fills it
    FaultLog log;
    int64_t row_count = 0, duplicate_count = 0, rank_conflicts = 0, float32_ties = 0;
    std::vector<int32_t> hit_rank, hit_item;
    std::vector<double> scores;
    std::vector<int64_t> ranked;  // where each retrieved document stands in the input, in rank order

    /// Orders the list and appends its hits. Returns how many documents it retrieves. A query of -1 has no judgments.
    /// `facts`, if they are wanted, become those of the list.
    int64_t join(int64_t query, Id query_id, ListFacts* facts) {
        row_count += static_cast<int64_t>(rows.size());
        const bool repeats = find_duplicates();
        order_rows();
        if (options_.order == Order::score && query >= 0) inspect_scores();
        if (repeats) drop_duplicates(query >= 0);
        if (facts) *facts = inspect(query, query_id);
        if (options_.depth > 0 && order_.size() > static_cast<size_t>(options_.depth)) {
            order_.resize(static_cast<size_t>(options_.depth));
        }
        if (query >= 0) append_hits(static_cast<size_t>(query));
        return static_cast<int64_t>(order_.size());
    }

  private:
    /// Looks each document up among those before it; with `unique` the first comers are listed there.
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

    /// Sorts as little as it takes: nothing when the input is in order, only groups of equal keys when just they are not.
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

    /// Counts, over the groups of equal score, what deserves a notice.
    void inspect_scores() {
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
            if (told_apart) float32_ties += static_cast<int64_t>(end - first);
            highest_rank = highest_here;
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
        for (size_t i = 0; i < order_.size(); ++i) {
            const Row& row = rows[order_[i]];
            const int32_t item = index_.find(query, row.document, row.hash);
            if (item >= 0) {
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
    std::pair<int64_t, int64_t> repeat_;  // the first repeated document of the list, and where it stands first
};

/// Joins every list of a source. `read(list, joiner)` fills joiner.rows and returns how much progress that was.
template <class Read>
Joined join_lists(const std::vector<Id>& query_ids, const JudgmentIndex& index, const JoinOptions& options, size_t threads,
                  const Progress& progress, Read read) {
    struct Place {
        uint32_t worker;
        size_t hits, hits_end, scores, scores_end, ranked, ranked_end;
    };
    threads = std::max<size_t>(1, std::min(threads, query_ids.size()));
    std::vector<ListJoiner> joiners(threads, ListJoiner(index, options));
    std::vector<Place> places(index.query_count(), Place{});
    Joined result;
    result.answered.assign(index.query_count(), 0);
    result.retrieved.assign(index.query_count(), 0);
    result.list_count = static_cast<int64_t>(query_ids.size());
    if (options.want_facts) {
        result.facts.resize(query_ids.size());
        result.list_ids = query_ids;
    }

    for_each_task(query_ids.size(), threads, [&](size_t worker, size_t list) {
        ListJoiner& joiner = joiners[worker];
        joiner.rows.clear();
        const int64_t amount = read(list, joiner);
        const int64_t query = index.find_query(query_ids[list]);
        const size_t hits = joiner.hit_rank.size(), scores = joiner.scores.size(), ranked = joiner.ranked.size();
        ListFacts* const facts = options.want_facts ? &result.facts[list] : nullptr;
        const int64_t retrieved = joiner.join(query, query_ids[list], facts);
        if (query >= 0) {
            const size_t q = static_cast<size_t>(query);
            result.answered[q] = 1;
            result.retrieved[q] = retrieved;
            places[q] = {static_cast<uint32_t>(worker), hits,   joiner.hit_rank.size(), scores,
                         joiner.scores.size(),          ranked, joiner.ranked.size()};
        }
        progress.add(amount);
    });

    FaultLog log;
    size_t hit_count = 0, score_count = 0, row_count = 0;
    for (const ListJoiner& joiner : joiners) {
        log.merge(joiner.log);
        result.row_count += joiner.row_count;
        result.duplicate_count += joiner.duplicate_count;
        result.rank_conflicts += joiner.rank_conflicts;
        result.float32_ties += joiner.float32_ties;
        hit_count += joiner.hit_rank.size();
        score_count += joiner.scores.size();
        row_count += joiner.ranked.size();
    }
    result.faults = log.reported();
    result.hit_rank.reserve(hit_count);
    result.hit_item.reserve(hit_count);
    result.scores.reserve(score_count);
    result.rows.reserve(row_count);
    result.hit_offsets.assign(1, 0);
    for (const Place& place : places) {
        const ListJoiner& joiner = joiners[place.worker];
        const auto copy = [](auto& to, const auto& from, size_t begin, size_t end) {
            to.insert(to.end(), from.begin() + static_cast<ptrdiff_t>(begin), from.begin() + static_cast<ptrdiff_t>(end));
        };
        copy(result.hit_rank, joiner.hit_rank, place.hits, place.hits_end);
        copy(result.hit_item, joiner.hit_item, place.hits, place.hits_end);
        copy(result.scores, joiner.scores, place.scores, place.scores_end);
        copy(result.rows, joiner.ranked, place.ranked, place.ranked_end);
        result.hit_offsets.push_back(static_cast<int64_t>(result.hit_rank.size()));
    }
    for (const Id id : query_ids) {
        if (index.find_query(id) < 0) result.extra_ids.push_back(id);
    }
    std::sort(result.extra_ids.begin(), result.extra_ids.end());
    return result;
}

}  // namespace gainful
