// LETOR texts. Input: the requested feature, then the text.
#include <algorithm>
#include <cmath>
#include <string>

#include "../native/letor.hpp"
#include "harness.hpp"

using namespace gainful;
using namespace fuzz;

namespace {

/// The bytes of the queries and documents, row by row.
struct Ids {
    std::vector<std::string> query, document;

    Ids(const LetorColumns& columns, const Text& text) {
        const char* const documents = columns.documents.empty() ? text.begin() : columns.documents.data();
        for (size_t i = 0; i < columns.line.size(); ++i) {
            query.emplace_back(text.begin() + columns.query_start[i], static_cast<size_t>(columns.query_length[i]));
            document.emplace_back(documents + columns.document_start[i], static_cast<size_t>(columns.document_length[i]));
        }
    }
};

/// IDs are unchanged after being written as plain lines and read again.
void check_round_trip(const Ids& ids) {
    std::string written;
    for (size_t i = 0; i < ids.query.size(); ++i) {
        written += "0 qid:" + ids.query[i] + " #docid = " + ids.document[i] + "\r\n";
    }
    const Text again(written);
    const LetorColumns columns = read_letor(again.begin(), again.end(), 0);
    const Ids back(columns, again);
    CHECK(columns.faults.count() == 0 && back.query == ids.query && back.document == ids.document);
}

/// Lines that are a row or a fault: those with content, and those that contain a CR.
int64_t count_told_lines(const Text& text) {
    int64_t count = 0;
    for (const char* at = skip_byte_order_mark(text.begin(), text.end()); at < text.end();) {
        const Line line = line_at(at, text.end());
        at = line.next;
        const Id whole(line.begin, static_cast<size_t>(line.end - line.begin));
        const size_t first = whole.find_first_not_of(" \t");
        count += whole.find('\r') != Id::npos || (first != Id::npos && whole[first] != '#');
    }
    return count;
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Draw draw(data, size);
    const int64_t feature = draw.byte();
    const Text text(draw.rest());
    const LetorColumns columns = read_letor(text.begin(), text.end(), feature);

    const size_t rows = columns.line.size();
    CHECK(columns.grade.size() == rows && columns.value.size() == rows);
    CHECK(columns.query_start.size() == rows && columns.document_start.size() == rows);
    const int64_t documents_size = columns.documents.empty() ? text.size() : static_cast<int64_t>(columns.documents.size());
    check_spans(columns.query_start, columns.query_length, text.size(), 1);
    check_spans(columns.document_start, columns.document_length, documents_size, 0);
    // A line without a document, if others have one, is both a row and a fault.
    const auto unnamed = std::count(columns.document_length.begin(), columns.document_length.end(), 0);
    check_lines(columns.line, 0, rows, text);
    for (size_t i = 0; i < rows; ++i) CHECK(std::isfinite(columns.grade[i]) && !std::isinf(columns.value[i]));
    CHECK(columns.feature_count >= 0);
    check_faults(columns.faults, text);
    CHECK(static_cast<int64_t>(rows) + columns.faults.count() - unnamed == count_told_lines(text));
    if (!unnamed) check_round_trip(Ids(columns, text));
    return 0;
}
