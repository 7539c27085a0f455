// Delimited texts (CSV, TSV, fields separated by blanks) as columns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "faults.hpp"
#include "text.hpp"

namespace gainful {

/// The layout of a table's rows, and the selected fields.
struct TableShape {
    char separator;  // 0: runs of blanks
    int64_t fields;
    std::vector<int64_t> id_fields, number_fields;
    std::vector<int64_t> optional_fields;  // may be empty: an empty ID, or NaN

    void check() const {
        if (separator == '"' || separator == '\n' || separator == '\r') {
            throw std::invalid_argument("a quote or a line end cannot separate fields");
        }
        for (const std::vector<int64_t>* wanted : {&id_fields, &number_fields, &optional_fields}) {
            for (const int64_t field : *wanted) {
                if (field < 0 || field >= fields) throw std::invalid_argument("there is no such field");
            }
        }
    }
};

struct TableColumns {
    struct Spans {
        std::vector<int64_t> start, length;
    };
    std::vector<Spans> ids;
    std::vector<std::vector<double>> numbers;
    std::vector<int64_t> line;
    std::string extra;  // IDs that differ from the text after unescaping; spans continue after its end
    Faults faults;
};

namespace detail {

struct Field {
    Id text;
    bool doubled;  // contains doubled quotes
};

/// Splits rows one by one, reusing memory.
class RowSplitter {
  public:
    /// Keeps the first `kept` fields of each row; all are counted.
    RowSplitter(char separator, int64_t kept) : separator_(separator), kept_(kept) {}

    /// Splits the row that starts at `begin` and returns the start of the next one; `end` is the end of the whole text.
    const char* split(const char* begin, const char* end) {
        fields_.clear();
        count_ = 0;
        misquoted_ = false;
        const char* at = skip_blanks(begin, end);
        if (ends_line(at, end) || *at == '#') return next_line(at, end);
        return separator_ ? split_at_separators(at, end) : split_at_blanks(at, end);
    }

    bool has_content() const { return count_ > 0 || misquoted_; }
    /// The field after the last counted one is quoted without a proper end.
    bool misquoted() const { return misquoted_; }
    int64_t count() const { return count_; }
    const Field& operator[](int64_t field) const { return fields_[static_cast<size_t>(field)]; }

  private:
    bool is_padding(char c) const { return is_blank(c) && c != separator_; }

    const char* skip_blanks(const char* at, const char* end) const {
        while (at < end && is_padding(*at)) ++at;
        return at;
    }

    static bool ends_line(const char* at, const char* end) {
        return at == end || *at == '\n' || (*at == '\r' && (at + 1 == end || at[1] == '\n'));
    }

    static const char* next_line(const char* at, const char* end) { return line_at(at, end).next; }

    void add(const char* begin, const char* end, bool doubled) {
        if (count_ < kept_) fields_.push_back({Id(begin, static_cast<size_t>(end - begin)), doubled});
        ++count_;
    }

    const char* split_at_blanks(const char* at, const char* end) {
        const Line line = line_at(at, end);
        while (at < line.end) {
            const char* const start = at;
            while (at < line.end && !is_blank(*at)) ++at;
            add(start, at, false);
            at = skip_blanks(at, line.end);
        }
        return line.next;
    }

    const char* split_at_separators(const char* at, const char* end) {
        for (;;) {
            if (at < end && *at == '"') {
                bool doubled = false;
                const char* const close = closing_quote(at + 1, end, doubled);
                const char* const after = close == end ? end : skip_blanks(close + 1, end);
                const bool last = ends_line(after, end);
                if (close == end || (!last && *after != separator_)) {
                    misquoted_ = true;
                    return next_line(after, end);
                }
                add(at + 1, close, doubled);
                if (last) return next_line(after, end);
                at = skip_blanks(after + 1, end);
            } else {
                const char* const stop = find_either(at, end, separator_, '\n');
                const bool last = stop == end || *stop == '\n';
                const char* text_end = stop;
                if (last && text_end > at && text_end[-1] == '\r') --text_end;
                while (text_end > at && is_padding(text_end[-1])) --text_end;
                add(at, text_end, false);
                if (last) return stop == end ? end : stop + 1;
                at = skip_blanks(stop + 1, end);
            }
        }
    }

    /// Returns the quote that ends a field that continues at `at`, or the end of the text.
    static const char* closing_quote(const char* at, const char* end, bool& doubled) {
        for (;; at += 2) {
            const void* const found = at < end ? std::memchr(at, '"', static_cast<size_t>(end - at)) : nullptr;
            if (!found) return end;
            at = static_cast<const char*>(found);
            if (at + 1 == end || at[1] != '"') return at;
            doubled = true;
        }
    }

    char separator_;
    int64_t kept_;
    int64_t count_ = 0;
    bool misquoted_ = false;
    std::vector<Field> fields_;
};

/// Reads rows into columns.
class TableReader {
  public:
    TableReader(const char* text, const char* end, const TableShape& shape)
        : text_(text), end_(end), shape_(shape), numbers_(shape.number_fields.size()) {
        columns.ids.resize(shape.id_fields.size());
        columns.numbers.resize(shape.number_fields.size());
        const auto may_be_empty = [&shape](int64_t field) {
            const std::vector<int64_t>& optional = shape.optional_fields;
            return std::find(optional.begin(), optional.end(), field) != optional.end();
        };
        for (const int64_t field : shape.id_fields) checks_.push_back({field, false, may_be_empty(field), 0});
        for (size_t i = 0; i < numbers_.size(); ++i) {
            const int64_t field = shape.number_fields[i];
            checks_.push_back({field, true, may_be_empty(field), i});
        }
        // Only the first faulty field of a row is reported.
        const auto stands_before = [](const Check& a, const Check& b) { return a.field < b.field; };
        std::stable_sort(checks_.begin(), checks_.end(), stands_before);
    }

    void read(const char* begin) {
        RowSplitter row(shape_.separator, shape_.fields);
        for (const char* at = begin; at < end_;) {
            const int64_t where = at - text_;
            at = row.split(at, end_);
            if (row.has_content() && is_sound(row, where)) add(row, where);
        }
    }

    TableColumns columns;

  private:
    struct Check {
        int64_t field;
        bool is_number, is_optional;
        size_t column;
    };

    /// Checks for faults, and stores the row's numbers in `numbers_`.
    bool is_sound(const RowSplitter& row, int64_t where) {
        Faults& faults = columns.faults;
        if (row.misquoted()) {
            faults.add(where, FaultCode::quote, row.count());
            return false;
        }
        if (row.count() != shape_.fields) {
            faults.add(where, FaultCode::fields, row.count());
            return false;
        }
        for (const Check& check : checks_) {
            const Id text = row[check.field].text;
            if (check.is_optional && text.empty()) {
                if (check.is_number) numbers_[check.column] = std::numeric_limits<double>::quiet_NaN();
                continue;
            }
            if (check.is_number) {
                const Number number = parse_number(text, numbers_[check.column]);
                if (number == Number::valid) continue;
                faults.add(where, number == Number::overflow ? FaultCode::overflow : FaultCode::number, check.field);
                return false;
            }
            if (text.empty()) {
                faults.add(where, FaultCode::empty, check.field);
                return false;
            }
        }
        return true;
    }

    void add(const RowSplitter& row, int64_t where) {
        for (size_t i = 0; i < columns.ids.size(); ++i) {
            const Field& field = row[shape_.id_fields[i]];
            const size_t unescaped = columns.extra.size();
            if (field.doubled) append_unescaped(field.text);
            columns.ids[i].start.push_back(field.doubled ? (end_ - text_) + static_cast<int64_t>(unescaped)
                                                         : field.text.data() - text_);
            columns.ids[i].length.push_back(
                static_cast<int64_t>(field.doubled ? columns.extra.size() - unescaped : field.text.size()));
        }
        for (size_t i = 0; i < numbers_.size(); ++i) columns.numbers[i].push_back(numbers_[i]);
        columns.line.push_back(where);
    }

    void append_unescaped(Id text) {
        for (size_t i = 0; i < text.size(); ++i) {
            columns.extra.push_back(text[i]);
            if (text[i] == '"') ++i;
        }
    }

    const char* text_;
    const char* end_;
    const TableShape& shape_;
    std::vector<Check> checks_;
    std::vector<double> numbers_;
};

}  // namespace detail

/// Reads the rows starting at offset `first`.
inline TableColumns read_table(const char* text, const char* end, int64_t first, const TableShape& shape) {
    shape.check();
    if (first < 0 || first > end - text) throw std::invalid_argument("the first row lies outside of the data");
    detail::TableReader reader(text, end, shape);
    reader.read(first == 0 ? skip_byte_order_mark(text, end) : text + first);
    return std::move(reader.columns);
}

}  // namespace gainful
