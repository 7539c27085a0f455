// Facts about a list beyond the needs of measures, for checking files.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "judgments.hpp"
#include "lists.hpp"

namespace gainful {

/// Counts for one list, each with the places of an example. A place of -1 means none. See _core.pyi.
struct ListFacts {
    int64_t query = -1, rows = 0, first = -1, retrieved = 0;
    int64_t duplicates = 0, duplicate_at = -1, duplicate_of = -1;
    int64_t tied = 0, tied_at = -1, tied_with = -1;
    int64_t float32_tied = 0, float32_at = -1, float32_with = -1;
    int64_t rank_conflicts = 0, conflict_at = -1, conflict_with = -1;
    int64_t unranked = 0, constant = 0, reversed = 0;
    int64_t self_rank = 0, self_at = -1, unjudged_at = -1;
    double lowest_rank = std::numeric_limits<double>::quiet_NaN();
    double highest_rank = std::numeric_limits<double>::quiet_NaN();
};

struct CountField {
    const char* name;
    int64_t ListFacts::*member;
};

inline constexpr CountField kCountFields[] = {
    {"query", &ListFacts::query},
    {"rows", &ListFacts::rows},
    {"first", &ListFacts::first},
    {"retrieved", &ListFacts::retrieved},
    {"duplicates", &ListFacts::duplicates},
    {"duplicate_at", &ListFacts::duplicate_at},
    {"duplicate_of", &ListFacts::duplicate_of},
    {"tied", &ListFacts::tied},
    {"tied_at", &ListFacts::tied_at},
    {"tied_with", &ListFacts::tied_with},
    {"float32_tied", &ListFacts::float32_tied},
    {"float32_at", &ListFacts::float32_at},
    {"float32_with", &ListFacts::float32_with},
    {"rank_conflicts", &ListFacts::rank_conflicts},
    {"conflict_at", &ListFacts::conflict_at},
    {"conflict_with", &ListFacts::conflict_with},
    {"unranked", &ListFacts::unranked},
    {"constant", &ListFacts::constant},
    {"reversed", &ListFacts::reversed},
    {"self_rank", &ListFacts::self_rank},
    {"self_at", &ListFacts::self_at},
    {"unjudged_at", &ListFacts::unjudged_at},
};

/// Inspects one list. `order` holds its distinct documents, best first, before the cutoff.
class ListInspector {
  public:
    ListInspector(const std::vector<Row>& rows, const std::vector<uint32_t>& order, std::vector<uint32_t>& room)
        : rows_(rows), order_(order), by_score_(room) {
        facts_.rows = static_cast<int64_t>(rows.size());
        facts_.duplicates = static_cast<int64_t>(rows.size() - order.size());
        if (!rows.empty()) facts_.first = rows[0].where;
        sort_by_score();
        read_ranks();
        for (size_t first = 0, end; first < by_score_.size(); first = end) end = visit_equal_scores(first);
        visit_equal_float32();
        facts_.constant = by_score_.size() > 1 && score(0) == score(by_score_.size() - 1);
        facts_.reversed = groups_ > 1 && falls_;
    }

    ListFacts& facts() { return facts_; }

    void find_self(Id query) {
        for (size_t i = 0; i < order_.size(); ++i) {
            if (rows_[order_[i]].document != query) continue;
            facts_.self_rank = static_cast<int64_t>(i + 1);
            facts_.self_at = rows_[order_[i]].where;
            return;
        }
    }

    void find_unjudged(const JudgmentIndex& index, size_t query, size_t depth) {
        for (size_t i = 0; i < std::min(depth, order_.size()); ++i) {
            const Row& row = rows_[order_[i]];
            if (index.find(query, row.document, row.hash) >= 0) continue;
            facts_.unjudged_at = row.where;
            return;
        }
    }

  private:
    double score(size_t i) const { return rows_[by_score_[i]].score; }
    int64_t where(size_t i) const { return rows_[by_score_[i]].where; }
    bool same_float32(size_t i, size_t j) const { return to_float32(score(i)) == to_float32(score(j)); }

    /// Most lists are in this order already, so check before sorting.
    void sort_by_score() {
        by_score_.assign(order_.begin(), order_.end());
        const auto better = [this](uint32_t a, uint32_t b) { return rows_[a].score > rows_[b].score; };
        if (!std::is_sorted(by_score_.begin(), by_score_.end(), better)) {
            std::stable_sort(by_score_.begin(), by_score_.end(), better);
        }
    }

    void read_ranks() {
        for (const uint32_t i : order_) {
            const double rank = rows_[i].rank;
            if (std::isnan(rank)) {
                ++facts_.unranked;
                continue;
            }
            if (!(rank >= facts_.lowest_rank)) facts_.lowest_rank = rank;
            if (!(rank <= facts_.highest_rank)) facts_.highest_rank = rank;
        }
        ranks_tell_ = facts_.unranked == 0 && facts_.lowest_rank < facts_.highest_rank;
    }

    /// Returns the position of a row by the rank column or, if that is uninformative, in the input.
    double place(size_t i) const {
        return ranks_tell_ ? rows_[by_score_[i]].rank : static_cast<double>(by_score_[i]);
    }

    /// Processes one group of equal scores and returns its end.
    size_t visit_equal_scores(size_t first) {
        double highest_here = highest_rank_, lowest_place = lowest_place_;
        size_t highest_at = highest_at_, end = first;
        for (; end < by_score_.size() && score(end) == score(first); ++end) {
            const double rank = rows_[by_score_[end]].rank;
            if (rank < highest_rank_ && ++facts_.rank_conflicts == 1) {
                facts_.conflict_at = where(end);
                facts_.conflict_with = where(highest_at_);
            }
            if (rank > highest_here) {
                highest_here = rank;
                highest_at = end;
            }
            if (!(place(end) < lowest_place_)) falls_ = false;
            lowest_place = std::min(lowest_place, place(end));
        }
        highest_rank_ = highest_here;
        highest_at_ = highest_at;
        lowest_place_ = lowest_place;
        ++groups_;
        if (end - first > 1) {
            if (facts_.tied == 0) {
                facts_.tied_at = where(first);
                facts_.tied_with = where(first + 1);
            }
            facts_.tied += static_cast<int64_t>(end - first);
        }
        return end;
    }

    /// Groups of scores that are equal as float32 but not all equal as float64.
    void visit_equal_float32() {
        for (size_t first = 0, end; first < by_score_.size(); first = end) {
            for (end = first + 1; end < by_score_.size() && same_float32(first, end); ++end) {
                if (score(end) == score(end - 1) || facts_.float32_at >= 0) continue;
                facts_.float32_at = where(end - 1);
                facts_.float32_with = where(end);
            }
            if (score(first) != score(end - 1)) facts_.float32_tied += static_cast<int64_t>(end - first);
        }
    }

    const std::vector<Row>& rows_;
    const std::vector<uint32_t>& order_;
    std::vector<uint32_t>& by_score_;
    ListFacts facts_;
    bool ranks_tell_ = false, falls_ = true;
    size_t groups_ = 0, highest_at_ = 0;
    double highest_rank_ = -std::numeric_limits<double>::infinity();
    double lowest_place_ = std::numeric_limits<double>::infinity();
};

}  // namespace gainful
