// TREC texts: judgments, a run, and their join. Input: three bytes of policy, one of threads, the judgments, 0x1E, the run.
#include <cmath>
#include <set>

#include "../native/blocks.hpp"
#include "../native/join_text.hpp"
#include "../native/judgments.hpp"
#include "../native/lookups.hpp"
#include "../native/run_columns.hpp"
#include "harness.hpp"

using namespace gainful;
using namespace fuzz;

namespace {

/// Threads take most of the time, so only some inputs use them, unless threads are being tested.
size_t threads_of(uint8_t drawn) {
#if __has_feature(thread_sanitizer)
    return 3 + drawn % 2;
#else
    return drawn % 8 ? 1 : 3;
#endif
}

void check_ascending(const std::vector<Id>& ids) {
    for (size_t i = 0; i < ids.size(); ++i) {
        CHECK(!ids[i].empty());
        CHECK(i == 0 || ids[i - 1] < ids[i]);
    }
}

void check_offsets(const std::vector<int64_t>& offsets, size_t groups, size_t rows) {
    CHECK(offsets.size() == groups + 1 && offsets.front() == 0 && offsets.back() == static_cast<int64_t>(rows));
    for (size_t i = 0; i < groups; ++i) CHECK(offsets[i] <= offsets[i + 1]);
}

JudgmentColumns judgments_of(const Text& text, size_t threads) {
    JudgmentColumns columns = read_judgments(text.begin(), text.end(), 1);
    const size_t rows = columns.line.size();
    check_ascending(columns.query_ids);
    check_ascending(columns.subtopic_ids);
    CHECK(columns.query.size() == rows && columns.subtopic.size() == rows && columns.grade.size() == rows);
    for (size_t i = 0; i < rows; ++i) {
        CHECK(columns.query[i] >= 0 && columns.query[i] < static_cast<int64_t>(columns.query_ids.size()));
        CHECK(columns.subtopic[i] >= 0 && columns.subtopic[i] < static_cast<int64_t>(columns.subtopic_ids.size()));
        CHECK(std::isfinite(columns.grade[i]));
    }
    CHECK(columns.document_start.size() == rows);
    check_spans(columns.document_start, columns.document_length, text.size(), 1);
    check_lines(columns.line, 0, rows, text);
    check_faults(columns.faults, text);
    CHECK(static_cast<int64_t>(rows) + columns.faults.count() == count_lines_with_content(text));

    const JudgmentColumns shared = read_judgments(text.begin(), text.end(), threads);
    CHECK(same(columns.query_ids, shared.query_ids) && same(columns.subtopic_ids, shared.subtopic_ids));
    CHECK(same(columns.query, shared.query) && same(columns.subtopic, shared.subtopic) && same(columns.line, shared.line));
    CHECK(same(columns.document_start, shared.document_start) && same(columns.document_length, shared.document_length));
    CHECK(same(columns.grade, shared.grade) && same(columns.faults, shared.faults));
    return columns;
}

RunColumns run_of(const Text& text, size_t threads) {
    RunColumns columns = read_run(text.begin(), text.end(), 1);
    const size_t rows = columns.line.size();
    check_ascending(columns.query_ids);
    check_offsets(columns.list_offsets, columns.query_ids.size(), rows);
    CHECK(columns.score.size() == rows && columns.rank.size() == rows && columns.document_start.size() == rows);
    for (size_t i = 0; i < rows; ++i) CHECK(std::isfinite(columns.score[i]) && !std::isinf(columns.rank[i]));
    check_spans(columns.document_start, columns.document_length, text.size(), 1);
    for (size_t i = 0; i < columns.query_ids.size(); ++i) {
        const size_t first = static_cast<size_t>(columns.list_offsets[i]), last = static_cast<size_t>(columns.list_offsets[i + 1]);
        check_lines(columns.line, first, last, text);
    }
    check_faults(columns.faults, text);
    CHECK(static_cast<int64_t>(rows) + columns.faults.count() == count_lines_with_content(text));

    const RunColumns shared = read_run(text.begin(), text.end(), threads);
    CHECK(same(columns.query_ids, shared.query_ids) && same(columns.list_offsets, shared.list_offsets));
    CHECK(same(columns.document_start, shared.document_start) && same(columns.document_length, shared.document_length));
    CHECK(same(columns.score, shared.score) && same(columns.rank, shared.rank) && same(columns.line, shared.line));
    CHECK(same(columns.faults, shared.faults));
    return columns;
}

Joined joined_by(size_t threads, const Text& run, const JudgmentIndex& index, const JoinOptions& options) {
    int64_t cells[2] = {0, 0};
    Joined joined = join_text(run.begin(), run.end(), index, options, threads, Progress(cells));
    CHECK(cells[0] == run.size());
    return joined;
}

void check_order(const Joined& joined, const JoinOptions& options, size_t first, size_t last, const Text& run) {
    for (size_t i = first; options.want_scores && options.order == Order::score && i + 1 < last; ++i) {
        CHECK(joined.scores[i] >= joined.scores[i + 1]);
    }
    std::set<int64_t> seen;
    for (size_t i = first; options.want_rows && i < last; ++i) {
        CHECK(joined.rows[i] >= 0 && joined.rows[i] < run.size() && seen.insert(joined.rows[i]).second);
    }
}

void check_join(const Text& run, const JudgmentIndex& index, const JoinOptions& options, size_t threads) {
    const Joined joined = joined_by(1, run, index, options);
    const size_t queries = index.query_count();
    CHECK(joined.answered.size() == queries && joined.retrieved.size() == queries);
    CHECK(joined.hit_item.size() == joined.hit_rank.size());
    check_offsets(joined.hit_offsets, queries, joined.hit_rank.size());
    check_faults(joined.faults, run);
    size_t ranked = 0;
    for (size_t q = 0; q < queries; ++q) {
        CHECK(joined.retrieved[q] >= 0 && (joined.answered[q] || joined.retrieved[q] == 0));
        CHECK(!options.depth || joined.retrieved[q] <= options.depth);
        std::set<int32_t> items;
        for (size_t i = static_cast<size_t>(joined.hit_offsets[q]); i < static_cast<size_t>(joined.hit_offsets[q + 1]); ++i) {
            const int32_t rank = joined.hit_rank[i], item = joined.hit_item[i];
            CHECK(rank >= 1 && rank <= joined.retrieved[q]);
            CHECK(i == static_cast<size_t>(joined.hit_offsets[q]) || joined.hit_rank[i - 1] < rank);
            CHECK(item >= index.item_offsets()[q] && item < index.item_offsets()[q + 1]);
            CHECK(items.insert(item).second);
        }
        const size_t first = ranked;
        ranked += static_cast<size_t>(joined.retrieved[q]);
        CHECK(!options.want_scores || ranked <= joined.scores.size());
        CHECK(!options.want_rows || ranked <= joined.rows.size());
        check_order(joined, options, first, ranked, run);
    }
    CHECK(joined.scores.size() == (options.want_scores ? ranked : 0) && joined.rows.size() == (options.want_rows ? ranked : 0));

    const Joined shared = joined_by(threads, run, index, options);
    CHECK(same(joined.answered, shared.answered) && same(joined.retrieved, shared.retrieved));
    CHECK(same(joined.hit_offsets, shared.hit_offsets) && same(joined.hit_rank, shared.hit_rank));
    CHECK(same(joined.hit_item, shared.hit_item) && same(joined.scores, shared.scores) && same(joined.rows, shared.rows));
    CHECK(same(joined.extra_ids, shared.extra_ids) && same(joined.list_ids, shared.list_ids) && same(joined.facts, shared.facts));
    CHECK(joined.list_count == shared.list_count && joined.row_count == shared.row_count);
    CHECK(joined.duplicate_count == shared.duplicate_count && joined.rank_conflicts == shared.rank_conflicts);
    CHECK(joined.float32_ties == shared.float32_ties && joined.inexact_ties == shared.inexact_ties);
    CHECK(same(joined.faults, shared.faults));
}

/// A text that arrives in pieces is joined like the whole text, or not at all.
void check_blocks(const Text& run, const JudgmentIndex& index, const JoinOptions& options, size_t threads, size_t block) {
    if (options.want_rows || options.want_facts) return;
    int64_t cells[2] = {0, 0};
    BlockJoin blocks(index, options, threads, Progress(cells), BlockJoin::kMost, block);
    const size_t size = static_cast<size_t>(run.size()), piece = block / 2 + 1;
    for (size_t at = 0; at < size && blocks.feed(run.begin() + at, std::min(piece, size - at)); at += piece) {}
    const std::optional<Joined> found = blocks.finish();
    if (!found) {
        CHECK(cells[0] == 0);
        return;
    }
    const Joined joined = joined_by(1, run, index, options);
    CHECK(cells[0] == run.size() && joined.faults.count() == 0);
    CHECK(same(joined.answered, found->answered) && same(joined.retrieved, found->retrieved));
    CHECK(same(joined.hit_offsets, found->hit_offsets) && same(joined.hit_rank, found->hit_rank));
    CHECK(same(joined.hit_item, found->hit_item) && same(joined.scores, found->scores));
    CHECK(same(joined.extra_ids, found->extra_ids) && joined.list_count == found->list_count);
    CHECK(joined.row_count == found->row_count && joined.duplicate_count == found->duplicate_count);
    CHECK(joined.rank_conflicts == found->rank_conflicts && joined.float32_ties == found->float32_ties);
}

void check_lookups(const RunColumns& run, const Text& text, const JudgmentIndex& index, size_t threads) {
    const auto documents = DocumentSpans::unchecked(text.begin(), static_cast<size_t>(text.size()), run.document_start.data(),
                                                    run.document_length.data());
    std::vector<int64_t> query;
    for (const Id id : run.query_ids) query.push_back(index.find_query(id, query.size()));
    const Hits hits = find_hits(index, query.data(), run.list_offsets.data(), query.size(), documents, threads);
    CHECK(hits.list.size() == hits.place.size() && hits.item.size() == hits.place.size());
    for (size_t i = 0; i < hits.place.size(); ++i) {
        const size_t list = static_cast<size_t>(hits.list[i]), judged = static_cast<size_t>(query[list]);
        CHECK(hits.place[i] >= run.list_offsets[list] && hits.place[i] < run.list_offsets[list + 1]);
        CHECK(hits.item[i] >= index.item_offsets()[judged] && hits.item[i] < index.item_offsets()[judged + 1]);
    }
    std::vector<uint8_t> repeats = find_repeats(run.list_offsets.data(), query.size(), documents, threads);
    bool any_repeats = false;
    for (size_t list = 0; list < query.size(); ++list) {
        std::set<Id> seen;
        for (size_t i = static_cast<size_t>(run.list_offsets[list]); i < static_cast<size_t>(run.list_offsets[list + 1]); ++i) {
            CHECK(repeats[i] == !seen.insert(documents[i]).second);
            any_repeats |= repeats[i];
        }
    }
    CHECK(hits.has_repeats == any_repeats);
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Draw draw(data, size);
    const int order = static_cast<int>(draw.below(3)), ties = static_cast<int>(draw.below(4));
    const uint8_t flags = draw.byte();
    const JoinOptions options(order, ties, flags & 1, flags & 2, flags >> 5, flags & 4, flags & 8, flags & 16);
    const size_t threads = threads_of(draw.byte());
    const std::string_view rest = draw.rest();
    const size_t cut = rest.find('\x1E');
    const Text qrels(rest.substr(0, cut)), run_text(cut == rest.npos ? rest : rest.substr(cut + 1));

    const JudgmentColumns judged = judgments_of(qrels, threads);
    const RunColumns run = run_of(run_text, threads);
    // Remove faulty lines, so that there is nearly always something to join.
    const DocumentSpans documents(qrels.begin(), static_cast<size_t>(qrels.size()), judged.document_start.data(),
                                  judged.document_length.data(), judged.query.size());
    const JudgmentIndex index(judged.query_ids, judged.query.data(), judged.query.size(), documents);
    check_join(run_text, index, options, threads);
    check_blocks(run_text, index, options, threads, size_t{1} << (size % 8));
    check_lookups(run, run_text, index, threads);
    return 0;
}
