// LETOR texts (`grade qid:query 1:value 2:value ... #docid = document`) as columns.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include "faults.hpp"
#include "ids.hpp"
#include "text.hpp"

namespace gainful {

struct LetorColumns {
    std::vector<int64_t> query_start, query_length, document_start, document_length, line;
    std::vector<double> grade, value;
    std::vector<char> documents;  // data of the documents' spans; if empty, they point into the text
    int64_t feature_count = 0;
    Faults faults;
};

namespace detail {

/// Iterates over the fields of a line.
class FieldWalk {
  public:
    FieldWalk(const char* begin, const char* end) : at_(begin), end_(end) {}

    /// Returns the next field; empty at the end or at the comment that ends the line.
    Id next() {
        while (at_ < end_ && is_blank(*at_)) ++at_;
        const char* const start = at_;
        if (at_ < end_ && *at_ == '#') return Id();
        while (at_ < end_ && !is_blank(*at_)) ++at_;
        return Id(start, static_cast<size_t>(at_ - start));
    }

    /// Returns the rest: after the last field, the comment.
    Id rest() const { return Id(at_, static_cast<size_t>(end_ - at_)); }

  private:
    const char* at_;
    const char* end_;
};

/// Returns the word after `docid =` in a comment; empty if there is none.
inline Id document_in(Id comment) {
    constexpr Id kKey = "docid";
    const auto skip_blanks = [&](size_t at) {
        while (at < comment.size() && is_blank(comment[at])) ++at;
        return at;
    };
    for (size_t found = comment.find(kKey); found != Id::npos; found = comment.find(kKey, found + 1)) {
        if (found == 0 || (comment[found - 1] != '#' && !is_blank(comment[found - 1]))) continue;
        const size_t sign = skip_blanks(found + kKey.size());
        if (sign == comment.size() || comment[sign] != '=') continue;
        const size_t start = skip_blanks(sign + 1);
        size_t stop = start;
        while (stop < comment.size() && !is_blank(comment[stop])) ++stop;
        if (stop > start) return comment.substr(start, stop - start);
    }
    return Id();
}

/// Reads `feature:value`, an integer feature of at least 1 and a number or NULL.
inline Number parse_feature(Id field, int64_t& feature, double& value) {
    constexpr size_t kMostDigits = 18;
    size_t at = 0;
    for (feature = 0; at < field.size() && at < kMostDigits && is_digit(field[at]); ++at) {
        feature = feature * 10 + (field[at] - '0');
    }
    if (feature == 0 || at == field.size() || field[at] != ':') return Number::malformed;
    const Id text = field.substr(at + 1);
    if (text == "NULL") {
        value = std::numeric_limits<double>::quiet_NaN();
        return Number::valid;
    }
    return parse_number(text, value);
}

class LetorReader {
  public:
    LetorReader(const char* text, int64_t feature) : text_(text), feature_(feature) {}

    void read(const char* begin, const char* end) {
        for (const char* at = begin; at < end;) {
            const Line line = line_at(at, end);
            at = line.next;
            if (std::memchr(line.begin, '\r', static_cast<size_t>(line.end - line.begin))) {
                // The writer meant several lines: everything after a comment would be lost.
                columns.faults.add(line.begin - text_, FaultCode::line_end);
                continue;
            }
            FieldWalk fields(line.begin, line.end);
            const Id first = fields.next();
            if (!first.empty()) read_line(line, first, fields);
        }
        settle_documents();
    }

    LetorColumns columns;

  private:
    void add_fault(const Line& line, Number number, int64_t field) {
        const FaultCode code = number == Number::overflow ? FaultCode::overflow : FaultCode::number;
        columns.faults.add(line.begin - text_, code, field);
    }

    void read_line(const Line& line, Id first, FieldWalk& fields) {
        constexpr Id kQuery = "qid:";
        const Id second = fields.next();
        if (second.substr(0, kQuery.size()) != kQuery) {
            int64_t count = 1;
            for (Id field = second; !field.empty(); field = fields.next()) ++count;
            columns.faults.add(line.begin - text_, FaultCode::fields, count);
            return;
        }
        double grade = 0, value = 0;
        const Number graded = parse_number(first, grade);
        if (graded != Number::valid) return add_fault(line, graded, 0);
        const Id query = second.substr(kQuery.size());
        if (query.empty()) return columns.faults.add(line.begin - text_, FaultCode::empty, 1);
        int64_t highest = 0, at = 2;
        for (Id field = fields.next(); !field.empty(); field = fields.next(), ++at) {
            int64_t feature = 0;
            double read = 0;
            if (const Number number = parse_feature(field, feature, read); number != Number::valid) {
                return add_fault(line, number, at);
            }
            highest = std::max(highest, feature);
            if (feature == feature_) value = read;
        }
        columns.feature_count = std::max(columns.feature_count, highest);
        columns.query_start.push_back(query.data() - text_);
        columns.query_length.push_back(static_cast<int64_t>(query.size()));
        columns.grade.push_back(grade);
        columns.value.push_back(value);
        columns.line.push_back(line.begin - text_);
        add_document(query, document_in(fields.rest()));
    }

    /// Until all lines are known, a document without a name is represented by its ordinal, as a negative start.
    void add_document(Id query, Id document) {
        const uint32_t number = queries_.number_of(query);
        if (number == rows_.size()) rows_.push_back(0);
        const int64_t ordinal = ++rows_[number];
        has_unnamed_ |= document.empty();
        has_named_ |= !document.empty();
        columns.document_start.push_back(document.empty() ? -ordinal : document.data() - text_);
        columns.document_length.push_back(static_cast<int64_t>(document.size()));
    }

    /// If no document has a name, all are numbered by ordinals; if only some do, the others are faults.
    void settle_documents() {
        if (has_named_ && has_unnamed_) {
            for (size_t i = 0; i < columns.document_start.size(); ++i) {
                if (columns.document_start[i] >= 0) continue;
                columns.document_start[i] = 0;
                columns.faults.add(columns.line[i], FaultCode::unnamed);
            }
        } else if (has_unnamed_) {
            write_ordinals();
        }
    }

    void write_ordinals() {
        std::vector<int64_t> written(1 + static_cast<size_t>(*std::max_element(rows_.begin(), rows_.end())), -1);
        std::vector<char>& ids = columns.documents;
        for (size_t i = 0; i < columns.document_start.size(); ++i) {
            int64_t &start = columns.document_start[i], &length = columns.document_length[i];
            char digits[24];
            length = std::to_chars(digits, digits + sizeof digits, -start).ptr - digits;
            int64_t& place = written[static_cast<size_t>(-start)];
            if (place < 0) {
                place = static_cast<int64_t>(ids.size());
                ids.insert(ids.end(), digits, digits + length);
            }
            start = place;
        }
    }

    const char* text_;
    int64_t feature_;
    IdTable queries_;
    std::vector<int64_t> rows_;  // so far, by query
    bool has_named_ = false, has_unnamed_ = false;
};

}  // namespace detail

/// Reads a LETOR text with the values of one feature (0: none).
inline LetorColumns read_letor(const char* text, const char* end, int64_t feature) {
    if (feature < 0) throw std::invalid_argument("there is no such feature");
    detail::LetorReader reader(text, feature);
    reader.read(skip_byte_order_mark(text, end), end);
    return std::move(reader.columns);
}

}  // namespace gainful
