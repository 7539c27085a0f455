// Judgments: their text as columns, and the index that finds a judged document by query and id.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
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

/// The judgments of one piece of text; queries and sub-topics by numbers of the piece's own.
struct JudgmentPiece {
    IdTable queries, subtopics;
    std::vector<uint32_t> query, subtopic;
    std::vector<Id> document;
    std::vector<double> grade;
    std::vector<int64_t> line;
    Faults faults;

    void read(const char* text, const char* begin, const char* piece_end, const char* end) {
        for (const char* at = begin; at < piece_end;) {
            const SplitLine split(at, end);
            at = split.next();
            if (split.has_content()) read_line(split, split.begin() - text);
        }
    }

  private:
    /// A judgment line is `query subtopic document grade`.
    void read_line(const SplitLine& split, int64_t where) {
        if (split.count() != 4) {
            faults.add(where, FaultCode::fields, split.count());
            return;
        }
        double value = 0;
        if (const Number number = parse_number(split[3], value); number != Number::valid) {
            faults.add(where, number == Number::overflow ? FaultCode::overflow : FaultCode::number);
            return;
        }
        query.push_back(queries.number_of(split[0]));
        subtopic.push_back(subtopics.number_of(split[1]));
        document.push_back(split[2]);
        grade.push_back(value);
        line.push_back(where);
    }
};

}  // namespace detail

inline JudgmentColumns read_judgments(const char* text, const char* end, size_t threads) {
    const std::vector<const char*> cuts = cut_at_lines(skip_byte_order_mark(text, end), end, threads);
    std::vector<detail::JudgmentPiece> pieces(cuts.size() - 1);
    for_each_task(pieces.size(), threads, [&](size_t, size_t i) { pieces[i].read(text, cuts[i], cuts[i + 1], end); });

    std::vector<const IdTable*> query_tables, subtopic_tables;
    for (const detail::JudgmentPiece& piece : pieces) {
        query_tables.push_back(&piece.queries);
        subtopic_tables.push_back(&piece.subtopics);
    }
    JudgmentColumns columns;
    Numbering queries(query_tables), subtopics(subtopic_tables);
    columns.query_ids = std::move(queries.ids);
    columns.subtopic_ids = std::move(subtopics.ids);
    for (size_t i = 0; i < pieces.size(); ++i) {
        const detail::JudgmentPiece& piece = pieces[i];
        for (const uint32_t number : piece.query) columns.query.push_back(queries.places[i][number]);
        for (const uint32_t number : piece.subtopic) columns.subtopic.push_back(subtopics.places[i][number]);
        for (const Id document : piece.document) {
            columns.document_start.push_back(document.data() - text);
            columns.document_length.push_back(static_cast<int64_t>(document.size()));
        }
        columns.grade.insert(columns.grade.end(), piece.grade.begin(), piece.grade.end());
        columns.line.insert(columns.line.end(), piece.line.begin(), piece.line.end());
        columns.faults.merge(piece.faults);
    }
    return columns;
}

/// Document ids as spans of one block of bytes.
class DocumentSpans {
  public:
    /// Spans that `check` is still to be called for.
    static DocumentSpans unchecked(const char* data, size_t size, const int64_t* start, const int64_t* length) {
        return DocumentSpans(data, size, start, length);
    }

    DocumentSpans(const char* data, size_t size, const int64_t* start, const int64_t* length, size_t rows)
        : DocumentSpans(data, size, start, length) {
        check(0, rows);
    }

    /// Refuses rows whose spans leave the bytes.
    void check(size_t first, size_t end) const {
        // All at once without a branch, which is several times as fast; then again for the first bad one.
        bool any_leaves = false;
        for (size_t i = first; i < end; ++i) any_leaves |= leaves(i);
        for (size_t i = first; any_leaves && i < end; ++i) {
            if (leaves(i)) throw std::invalid_argument("row " + std::to_string(i) + ": the document span leaves the data");
        }
    }

    Id operator[](size_t row) const { return Id(data_ + start_[row], static_cast<size_t>(length_[row])); }

    /// Fetches a row that is needed soon, in two steps.
    void fetch_span(size_t row) const {
        prefetch(start_ + row);
        prefetch(length_ + row);
    }
    void fetch_id(size_t row) const { prefetch(data_ + start_[row]); }

  private:
    DocumentSpans(const char* data, size_t size, const int64_t* start, const int64_t* length)
        : data_(data), size_(size), start_(start), length_(length) {}

    /// Numbers below 0 are too large once they are unsigned.
    bool leaves(size_t row) const {
        const uint64_t from = static_cast<uint64_t>(start_[row]), bytes = static_cast<uint64_t>(length_[row]);
        return (from > size_) | (bytes > size_) | (from + bytes > size_);
    }

    const char* data_;
    uint64_t size_;
    const int64_t* start_;
    const int64_t* length_;
};

/// Finds the item (a distinct judged document of a query) for a query and a document id.
class JudgmentIndex {
  public:
    JudgmentIndex(const std::vector<Id>& query_ids, const int64_t* query, size_t rows, const DocumentSpans& documents)
        : item_(rows), item_offsets_(query_ids.size() + 1, 0) {
        size_t size = 0;
        for (const Id id : query_ids) size += id.size();
        id_bytes_.reserve(size);  // so that it never moves
        queries_.reserve(query_ids.size());
        for (const Id id : query_ids) {
            id_bytes_.append(id);
            queries_.number_of(Id(id_bytes_.data() + id_bytes_.size() - id.size(), id.size()));
        }
        if (query_count() != query_ids.size()) throw std::invalid_argument("the query ids are not distinct");
        const std::vector<size_t> row_order = rows_by_query(query, rows);
        table_offsets_.assign(query_count() + 1, 0);
        for (size_t q = 0, at = 0; q < query_count(); ++q) {
            const size_t first = at;
            while (at < rows && static_cast<size_t>(query[row_order[at]]) == q) ++at;
            add_query(q, row_order.data() + first, at - first, row_order.data() + rows, documents);
        }
    }

    int64_t find_query(Id id) const { return queries_.lookup(id); }
    size_t query_count() const { return queries_.ids().size(); }
    const std::vector<int64_t>& item() const { return item_; }
    const std::vector<int64_t>& item_offsets() const { return item_offsets_; }

    /// The item, or -1 when the document is not judged for the query.
    int32_t find(size_t query, Id document, uint64_t hash) const {
        const uint32_t* table = slots_.data() + table_offsets_[query];
        const size_t mask = table_offsets_[query + 1] - table_offsets_[query] - 1;
        if ((filter_[table_offsets_[query] + filter_byte(hash, mask)] & filter_bit(hash)) == 0) return -1;
        for (size_t at = hash & mask;; at = (at + 1) & mask) {
            if (table[at] == 0) return -1;
            const size_t item = table[at] - 1;
            if (hashes_[item] == hash && documents_[item] == document) return static_cast<int32_t>(item);
        }
    }

  private:
    /// Rows sorted by query, otherwise in their order.
    std::vector<size_t> rows_by_query(const int64_t* query, size_t rows) const {
        std::vector<size_t> next(query_count() + 1, 0);
        for (size_t i = 0; i < rows; ++i) {
            if (query[i] < 0 || static_cast<size_t>(query[i]) >= query_count()) {
                throw std::invalid_argument("row " + std::to_string(i) + ": there is no such query");
            }
            ++next[static_cast<size_t>(query[i]) + 1];
        }
        std::partial_sum(next.begin(), next.end(), next.begin());
        std::vector<size_t> order(rows);
        for (size_t i = 0; i < rows; ++i) order[next[static_cast<size_t>(query[i])]++] = i;
        return order;
    }

    void add_query(size_t query, const size_t* rows, size_t count, const size_t* end, const DocumentSpans& documents) {
        constexpr int64_t far = 16, near = 8;
        const size_t start = table_offsets_[query];
        const size_t size = slots_for(count);
        table_offsets_[query + 1] = start + size;
        slots_.resize(start + size, 0);
        filter_.resize(start + size, 0);
        for (size_t i = 0; i < count; ++i) {
            if (end - (rows + i) > far) {
                documents.fetch_span(rows[i + far]);
                documents.fetch_id(rows[i + near]);
                prefetch(item_.data() + rows[i + near]);
            }
            const Id document = documents[rows[i]];
            const uint64_t hash = hash_id(document);
            size_t at = hash & (size - 1);
            while (slots_[start + at] != 0 && !is_item(slots_[start + at] - 1, document, hash)) at = (at + 1) & (size - 1);
            if (slots_[start + at] == 0) {
                if (documents_.size() >= size_t{0x7FFFFFFF}) throw std::length_error("more than 2^31 judged documents");
                documents_.push_back(document);
                hashes_.push_back(hash);
                slots_[start + at] = static_cast<uint32_t>(documents_.size());
                filter_[start + filter_byte(hash, size - 1)] |= filter_bit(hash);
            }
            item_[rows[i]] = slots_[start + at] - 1;
        }
        item_offsets_[query + 1] = static_cast<int64_t>(documents_.size());
    }

    /// Where the filter has a document's bit: by other digits of the hash than those that choose its slot.
    static size_t filter_byte(uint64_t hash, size_t mask) { return (hash >> 35) & mask; }
    static uint8_t filter_bit(uint64_t hash) { return static_cast<uint8_t>(1U << ((hash >> 32) & 7)); }

    bool is_item(size_t item, Id document, uint64_t hash) const {
        return hashes_[item] == hash && documents_[item] == document;
    }

    std::string id_bytes_;
    IdTable queries_;  // points into id_bytes_, which never changes
    std::vector<int64_t> item_;
    std::vector<int64_t> item_offsets_;
    std::vector<size_t> table_offsets_;
    std::vector<uint32_t> slots_;  // item + 1; 0 is free
    std::vector<uint8_t> filter_;  // as many bytes: without its bit a document, as most are, is not judged
    std::vector<Id> documents_;
    std::vector<uint64_t> hashes_;
};

}  // namespace gainful
