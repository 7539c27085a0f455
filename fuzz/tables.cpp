// Delimited tables. Input: seven bytes of options, then the table.
#include <cmath>
#include <string>

#include "../native/tables.hpp"
#include "harness.hpp"

using namespace gainful;
using namespace fuzz;

namespace {

std::vector<int64_t> fields_of(uint8_t bits, int64_t fields) {
    std::vector<int64_t> result;
    for (int64_t i = 0; i < fields; ++i) {
        if (bits >> i & 1) result.push_back(i);
    }
    return result;
}

Id id_at(const TableColumns& columns, const Text& text, size_t column, size_t row) {
    const int64_t start = columns.ids[column].start[row], length = columns.ids[column].length[row];
    const bool is_extra = start > text.size() || (start == text.size() && length > 0);
    CHECK(is_extra || length <= text.size() - start);
    return Id((is_extra ? columns.extra.data() - text.size() : text.begin()) + start, static_cast<size_t>(length));
}

/// IDs are unchanged after being quoted and read again.
void check_round_trip(const TableColumns& columns, const Text& text, char separator) {
    std::string written;
    for (size_t row = 0; row < columns.line.size(); ++row) {
        for (size_t column = 0; column < columns.ids.size(); ++column) {
            if (column) written += separator;
            written += '"';
            for (const char c : id_at(columns, text, column, row)) written.append(c == '"' ? 2 : 1, c);
            written += '"';
        }
        written += "\r\n";
    }
    const Text again(written);
    TableShape shape{separator, static_cast<int64_t>(columns.ids.size()), {}, {}, {}};
    for (int64_t i = 0; i < shape.fields; ++i) shape.id_fields.push_back(i);
    shape.optional_fields = shape.id_fields;
    const TableColumns back = read_table(again.begin(), again.end(), 0, shape);
    CHECK(back.faults.count() == 0 && back.line.size() == columns.line.size());
    for (size_t column = 0; column < columns.ids.size(); ++column) {
        for (size_t row = 0; row < back.line.size(); ++row) {
            CHECK(id_at(back, again, column, row) == id_at(columns, text, column, row));
        }
    }
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Draw draw(data, size);
    static constexpr char kSeparators[] = {',', '\t', 0, ';', '|', ' ', '#', '\xEF'};
    const char separator = kSeparators[draw.below(sizeof kSeparators)];
    const int64_t fields = draw.below(8);
    const TableShape shape{separator, fields, fields_of(draw.byte(), fields), fields_of(draw.byte(), fields),
                           fields_of(draw.byte(), fields)};
    const int64_t first_wanted = draw.value<uint16_t>();
    const Text text(draw.rest());
    const int64_t first = first_wanted % 4 ? 0 : first_wanted % (text.size() + 1);
    const TableColumns columns = read_table(text.begin(), text.end(), first, shape);

    const size_t rows = columns.line.size();
    CHECK(columns.ids.size() == shape.id_fields.size() && columns.numbers.size() == shape.number_fields.size());
    for (size_t i = 0; i < rows; ++i) {
        CHECK(columns.line[i] >= first && columns.line[i] < text.size());
        CHECK(i == 0 || columns.line[i - 1] < columns.line[i]);
    }
    const auto is_optional = [&](int64_t field) {
        return std::find(shape.optional_fields.begin(), shape.optional_fields.end(), field) != shape.optional_fields.end();
    };
    for (size_t i = 0; i < columns.ids.size(); ++i) {
        CHECK(columns.ids[i].start.size() == rows);
        const int64_t extra = static_cast<int64_t>(columns.extra.size()), least = !is_optional(shape.id_fields[i]);
        check_spans(columns.ids[i].start, columns.ids[i].length, text.size() + extra, least);
    }
    for (size_t i = 0; i < columns.numbers.size(); ++i) {
        CHECK(columns.numbers[i].size() == rows);
        const bool may_be_nan = is_optional(shape.number_fields[i]);
        for (const double number : columns.numbers[i]) CHECK(std::isfinite(number) || (may_be_nan && std::isnan(number)));
    }
    check_faults(columns.faults, text);
    if (separator && !columns.ids.empty()) check_round_trip(columns, text, separator);
    return 0;
}
