// Judgments: their text as columns, and an index of judged documents by query and ID.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "faults.hpp"
#include "ids.hpp"
#include "lists.hpp"
#include "text.hpp"

namespace gainful {

struct JudgmentColumns {
    std::vector<Id> query_ids, subtopic_ids;
    std::vector<int64_t> query, subtopic, document_start, document_length, line;
    std::vector<double> grade;
    Faults faults;
};

namespace detail {

/// The judgments of one piece of text, with their range among all rows, and numbers of queries and sub-topics of its own.
struct JudgmentPiece {
    IdTable queries, subtopics;
    Faults faults;
    size_t first = 0, end = 0;

    /// Upper bound on the number of judgments in the lines [begin, piece_end): the shortest is `q 0 d 1`.
    static size_t most_rows(const char* begin, const char* piece_end) {
        constexpr ptrdiff_t kShortest = 7;
        size_t rows = 0;
        for (const char* at = begin; at < piece_end;) {
            const Line line = line_at(at, piece_end);
            rows += line.end - line.begin >= kShortest;
            at = line.next;
        }
        return rows;
    }

    void read(const char* text, const char* begin, const char* piece_end, const char* text_end, JudgmentColumns& columns) {
        end = first;
        for (const char* at = begin; at < piece_end;) {
            const SplitLine split(at, text_end);
            at = split.next();
            if (split.has_content()) read_line(split, text, columns);
        }
    }

  private:
    /// A judgment line is `query subtopic document grade`.
    void read_line(const SplitLine& split, const char* text, JudgmentColumns& columns) {
        const int64_t where = split.begin() - text;
        if (split.count() != 4) {
            faults.add(where, FaultCode::fields, split.count());
            return;
        }
        double value = 0;
        if (const Number number = parse_number(split[3], value); number != Number::valid) {
            faults.add(where, number == Number::overflow ? FaultCode::overflow : FaultCode::number);
            return;
        }
        columns.query[end] = queries.number_of(split[0]);
        columns.subtopic[end] = subtopics.number_of(split[1]);
        columns.document_start[end] = split[2].data() - text;
        columns.document_length[end] = static_cast<int64_t>(split[2].size());
        columns.grade[end] = value;
        columns.line[end] = where;
        ++end;
    }
};

}  // namespace detail

inline JudgmentColumns read_judgments(const char* text, const char* end, size_t threads) {
    constexpr int64_t kLargest = 1 << 21;  // the IDs of a piece should fit into the processor's cache
    const std::vector<const char*> cuts = cut_at_lines(skip_byte_order_mark(text, end), end, threads, kLargest);
    std::vector<detail::JudgmentPiece> pieces(cuts.size() - 1);
    for_each_task(pieces.size(), threads, [&](size_t, size_t i) { pieces[i].end = pieces[i].most_rows(cuts[i], cuts[i + 1]); });
    size_t rows = 0;
    for (detail::JudgmentPiece& piece : pieces) piece.first = std::exchange(rows, rows + piece.end);

    // Every piece knows its range of rows, so that no column is copied or grows.
    JudgmentColumns columns;
    const auto each_column = [&](auto visit) {
        for (auto* column : {&columns.query, &columns.subtopic, &columns.document_start, &columns.document_length, &columns.line}) {
            visit(*column);
        }
        visit(columns.grade);
    };
    each_column([&](auto& column) { make_room(column, rows); });
    for_each_task(pieces.size(), threads,
                  [&](size_t, size_t i) { pieces[i].read(text, cuts[i], cuts[i + 1], end, columns); });

    std::vector<const IdTable*> query_tables, subtopic_tables;
    for (const detail::JudgmentPiece& piece : pieces) {
        query_tables.push_back(&piece.queries);
        subtopic_tables.push_back(&piece.subtopics);
        columns.faults.merge(piece.faults);
    }
    Numbering queries(query_tables), subtopics(subtopic_tables);
    columns.query_ids = std::move(queries.ids);
    columns.subtopic_ids = std::move(subtopics.ids);
    for_each_task(pieces.size(), threads, [&](size_t, size_t i) {
        for (size_t row = pieces[i].first; row < pieces[i].end; ++row) {
            columns.query[row] = queries.places[i][static_cast<size_t>(columns.query[row])];
            columns.subtopic[row] = subtopics.places[i][static_cast<size_t>(columns.subtopic[row])];
        }
    });
    // Comments and faults leave gaps after the rows of their pieces.
    each_column([&](auto& column) {
        auto filled = column.begin();
        for (const detail::JudgmentPiece& piece : pieces) {
            const auto at = column.begin() + static_cast<ptrdiff_t>(piece.first);
            const auto stop = column.begin() + static_cast<ptrdiff_t>(piece.end);
            filled = filled == at ? stop : std::move(at, stop, filled);
        }
        column.erase(filled, column.end());
    });
    return columns;
}

/// Document IDs as spans of one block of bytes.
class DocumentSpans {
  public:
    /// Spans that have yet to be checked with `check`.
    static DocumentSpans unchecked(const char* data, size_t size, const int64_t* start, const int64_t* length) {
        return DocumentSpans(data, size, start, length);
    }

    DocumentSpans(const char* data, size_t size, const int64_t* start, const int64_t* length, size_t rows)
        : DocumentSpans(data, size, start, length) {
        check(0, rows);
    }

    /// Rejects rows with spans outside the bytes.
    void check(size_t first, size_t end) const {
        // Check all without branches, which is several times as fast; look for the first bad one only if there is any.
        bool any_leaves = false;
        for (size_t i = first; i < end; ++i) any_leaves |= leaves(i);
        for (size_t i = first; any_leaves && i < end; ++i) {
            if (leaves(i)) throw std::invalid_argument("row " + std::to_string(i) + ": the document span leaves the data");
        }
    }

    Id operator[](size_t row) const { return Id(data_ + start_[row], static_cast<size_t>(length_[row])); }

    /// Prefetches a row that is needed soon, in two steps.
    void fetch_span(size_t row) const {
        prefetch(start_ + row);
        prefetch(length_ + row);
    }
    void fetch_id(size_t row) const { prefetch(data_ + start_[row]); }

  private:
    DocumentSpans(const char* data, size_t size, const int64_t* start, const int64_t* length)
        : data_(data), size_(size), start_(start), length_(length) {}

    /// Negative numbers are too large as unsigned ones.
    bool leaves(size_t row) const {
        const uint64_t from = static_cast<uint64_t>(start_[row]), bytes = static_cast<uint64_t>(length_[row]);
        return (from > size_) | (bytes > size_) | (from + bytes > size_);
    }

    const char* data_;
    uint64_t size_;
    const int64_t* start_;
    const int64_t* length_;
};

/// Finds the item (a distinct judged document of a query) for a query and a document ID.
class JudgmentIndex {
  public:
    JudgmentIndex(const std::vector<Id>& query_ids, const int64_t* query, size_t rows, const DocumentSpans& documents)
        : item_(rows), item_offsets_(query_ids.size() + 1, 0), table_offsets_(query_ids.size() + 1, 0) {
        keep_queries(query_ids);
        const std::vector<size_t> first = first_rows(query, rows);
        const std::vector<size_t> order = rows_by_query(query, rows, first);
        for (size_t q = 0; q < query_count(); ++q) {
            table_offsets_[q + 1] = table_offsets_[q] + slots_for(first[q + 1] - first[q]);
        }
        make_room(slots_, table_offsets_.back());
        make_room(filter_, table_offsets_.back());
        reserve_room(documents_, rows);
        reserve_room(tags_, rows);
        const auto row_at = [&](size_t place) { return order.empty() ? place : order[place]; };
        for (size_t q = 0; q < query_count(); ++q) add_query(q, first[q], first[q + 1], rows, row_at, documents);
    }

    /// Returns the position of a query, or -1; `guess` is tried first.
    int64_t find_query(Id id, size_t guess) const { return queries_.lookup(id, guess); }
    size_t query_count() const { return queries_.ids().size(); }
    const std::vector<int64_t>& item() const { return item_; }
    const std::vector<int64_t>& item_offsets() const { return item_offsets_; }

    /// Prefetches, in three steps, the memory needed to find a document: its slot, the item there, and the item's ID. If
    /// judgments exceed the processor's cache, each access would otherwise stall.
    void fetch_slot(size_t query, uint64_t hash) const {
        const size_t start = table_offsets_[query], mask = table_offsets_[query + 1] - start - 1;
        prefetch(filter_.data() + start + filter_byte(hash, mask));
        prefetch(slots_.data() + start + (hash & mask));
    }
    void fetch_item(size_t query, uint64_t hash) const {
        if (const uint32_t number = first_number(query, hash)) {
            prefetch(tags_.data() + number - 1);
            prefetch(documents_.data() + number - 1);
        }
    }
    void fetch_id(size_t query, uint64_t hash) const {
        if (const uint32_t number = first_number(query, hash)) prefetch(documents_[number - 1].data());
    }

    /// Moves the positions of hashes that may be judged to the front of `places` and returns their number. Avoids a branch,
    /// which the processor would often mispredict.
    size_t find_candidates(size_t query, const std::vector<uint64_t>& hashes, std::vector<uint32_t>& places) const {
        const size_t start = table_offsets_[query], mask = table_offsets_[query + 1] - start - 1;
        const uint8_t* filter = filter_.data() + start;
        if (places.size() < hashes.size()) places.resize(hashes.size());
        size_t found = 0;
        for (size_t i = 0; i < hashes.size(); ++i) {
            places[found] = static_cast<uint32_t>(i);
            found += (filter[filter_byte(hashes[i], mask)] & filter_bit(hashes[i])) != 0;
        }
        return found;
    }

    /// Returns the item, or -1 if the document is not judged for the query.
    int32_t find(size_t query, Id document, uint64_t hash) const {
        const uint32_t* table = slots_.data() + table_offsets_[query];
        const size_t mask = table_offsets_[query + 1] - table_offsets_[query] - 1;
        if ((filter_[table_offsets_[query] + filter_byte(hash, mask)] & filter_bit(hash)) == 0) return -1;
        for (size_t at = hash & mask;; at = (at + 1) & mask) {
            if (table[at] == 0) return -1;
            const size_t item = table[at] - 1;
            if (is_item(item, document, hash)) return static_cast<int32_t>(item);
        }
    }

  private:
    void keep_queries(const std::vector<Id>& query_ids) {
        size_t size = 0;
        for (const Id id : query_ids) size += id.size();
        id_bytes_.reserve(size);  // prevents reallocation
        std::vector<Id> kept;
        reserve_room(kept, query_ids.size());
        for (const Id id : query_ids) {
            kept.emplace_back(id_bytes_.data() + id_bytes_.size(), id.size());
            id_bytes_.append(id);
        }
        if (!queries_.take(std::move(kept))) throw std::invalid_argument("the query ids are not distinct");
    }

    /// Returns the offsets of every query's rows once they are sorted by query.
    std::vector<size_t> first_rows(const int64_t* query, size_t rows) const {
        std::vector<size_t> first(query_count() + 1, 0);
        for (size_t i = 0; i < rows; ++i) {
            if (query[i] < 0 || static_cast<size_t>(query[i]) >= query_count()) {
                throw std::invalid_argument("row " + std::to_string(i) + ": there is no such query");
            }
            ++first[static_cast<size_t>(query[i]) + 1];
        }
        std::partial_sum(first.begin(), first.end(), first.begin());
        return first;
    }

    /// Returns the rows sorted stably by query; empty if they are sorted already.
    static std::vector<size_t> rows_by_query(const int64_t* query, size_t rows, std::vector<size_t> next) {
        std::vector<size_t> order;
        if (std::is_sorted(query, query + rows)) return order;
        make_room(order, rows);
        for (size_t i = 0; i < rows; ++i) order[next[static_cast<size_t>(query[i])]++] = i;
        return order;
    }

    /// Adds the documents of a query: row_at(first), ..., row_at(end - 1).
    template <class RowAt>
    void add_query(size_t query, size_t first, size_t end, size_t rows, RowAt row_at, const DocumentSpans& documents) {
        constexpr size_t far = 16, near = 8;
        const size_t start = table_offsets_[query];
        const size_t size = table_offsets_[query + 1] - start;
        for (size_t place = first; place < end; ++place) {
            if (rows - place > far) {
                documents.fetch_span(row_at(place + far));
                documents.fetch_id(row_at(place + near));
                prefetch(item_.data() + row_at(place + near));
            }
            const size_t row = row_at(place);
            const Id document = documents[row];
            const uint64_t hash = hash_id(document);
            size_t at = hash & (size - 1);
            while (slots_[start + at] != 0 && !is_item(slots_[start + at] - 1, document, hash)) at = (at + 1) & (size - 1);
            if (slots_[start + at] == 0) {
                if (documents_.size() >= size_t{0x7FFFFFFF}) throw std::length_error("more than 2^31 judged documents");
                documents_.push_back(document);
                tags_.push_back(tag_of(hash));
                slots_[start + at] = static_cast<uint32_t>(documents_.size());
                filter_[start + filter_byte(hash, size - 1)] |= filter_bit(hash);
            }
            item_[row] = slots_[start + at] - 1;
        }
        item_offsets_[query + 1] = static_cast<int64_t>(documents_.size());
    }

    /// Returns the slot of a hash; 0 if the filter rules it out.
    uint32_t first_number(size_t query, uint64_t hash) const {
        const size_t start = table_offsets_[query], mask = table_offsets_[query + 1] - start - 1;
        return (filter_[start + filter_byte(hash, mask)] & filter_bit(hash)) == 0 ? 0 : slots_[start + (hash & mask)];
    }

    /// Returns the position of a document's bit in the filter, from other bits of the hash than those that choose its slot.
    static size_t filter_byte(uint64_t hash, size_t mask) { return (hash >> 35) & mask; }
    static uint8_t filter_bit(uint64_t hash) { return static_cast<uint8_t>(1U << ((hash >> 32) & 7)); }

    bool is_item(size_t item, Id document, uint64_t hash) const {
        return tags_[item] == tag_of(hash) && documents_[item] == document;
    }

    /// The half of the hash that does not choose the slot.
    static uint32_t tag_of(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }

    std::string id_bytes_;
    IdTable queries_;  // points into id_bytes_, which never changes
    std::vector<int64_t> item_;
    std::vector<int64_t> item_offsets_;
    std::vector<size_t> table_offsets_;
    std::vector<uint32_t> slots_;  // item + 1; 0 means free
    std::vector<uint8_t> filter_;  // equally many bytes: a document without its bit, as most are, is not judged
    std::vector<Id> documents_;
    std::vector<uint32_t> tags_;
};

}  // namespace gainful
