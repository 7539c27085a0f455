// Tables from other libraries through the Arrow C stream interface.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "arrow_columns.hpp"
#include "arrow_interface.hpp"

namespace gainful {

/// A column whose format cannot be read as the requested type.
struct UnsupportedFormat : std::runtime_error {
    using std::runtime_error::runtime_error;
};

namespace detail {

/// Returns whether two arrays are the same memory: producers often send one dictionary with every chunk.
inline bool is_same(const ArrowArray* one, const ArrowArray* other) {
    if (!one || one->length != other->length || one->offset != other->offset) return false;
    if (one->n_buffers != other->n_buffers) return false;
    for (int64_t i = 0; i < one->n_buffers; ++i) {
        if (one->buffers[i] != other->buffers[i]) return false;
    }
    return true;
}

}  // namespace detail

/// All chunks of a stream of structs. Columns are copied on request.
class ArrowTable {
  public:
    /// Takes ownership of the stream and reads it to its end.
    explicit ArrowTable(const ArrowArrayStream& taken) {
        Handed<ArrowArrayStream> stream(taken);
        check(stream.value, stream.value.get_schema(&stream.value, &schema_.value));
        if (!schema_.value.format || std::strcmp(schema_.value.format, "+s") != 0) {
            throw std::invalid_argument("expected an Arrow stream of structs, found format " +
                                        std::string(schema_.value.format ? schema_.value.format : ""));
        }
        for (size_t i = 0; i < columns(); ++i) {
            const ArrowSchema& of = schema(i);
            detail::demand(of.format && (!of.dictionary || of.dictionary->format), "a column has no format");
        }
        for (;;) {
            Handed<ArrowArray> chunk;
            check(stream.value, stream.value.get_next(&stream.value, &chunk.value));
            if (!chunk.value.release) break;
            check(chunk.value);
            rows_ += chunk.value.length;
            chunks_.push_back(std::move(chunk));
        }
    }

    size_t columns() const { return static_cast<size_t>(schema_.value.n_children); }
    int64_t rows() const { return rows_; }

    std::string name(size_t column) const {
        const char* const name = schema(column).name;
        return name ? name : "";
    }

    std::string format(size_t column) const {
        const ArrowSchema& of = schema(column);
        return of.dictionary ? std::string("dictionary of ") + of.dictionary->format : of.format;
    }

    /// Reads a column as ArrowIds or ArrowNumbers.
    template <class Column>
    Column read(size_t column) const {
        using namespace detail;
        const ArrowSchema& of = schema(column);
        const Layout layout = layout_of(of.format);
        const Layout words = of.dictionary ? layout_of(of.dictionary->format) : Layout::other;
        const bool is_read = of.dictionary ? is_integer(layout) && Column::reads(words) && !of.dictionary->dictionary
                                           : Column::reads(layout);
        if (!is_read) {
            const std::string what = Column::kWhat;
            throw UnsupportedFormat("cannot read " + what + " from Arrow format " + format(column));
        }
        Column result;
        result.reserve(rows_);
        const ArrowArray* dictionary = nullptr;
        for (const Handed<ArrowArray>& chunk : chunks_) {
            const ArrowArray& child = *chunk.value.children[column];
            // A struct's children also contain what is outside its slice.
            const Stretch values{&child, child.offset + chunk.value.offset, chunk.value.length};
            const int64_t first_row = result.rows();
            if (!of.dictionary) {
                result.append(layout, values);
            } else {
                if (!is_same(dictionary, child.dictionary)) {
                    dictionary = child.dictionary;
                    result.learn(words, {dictionary, dictionary->offset, dictionary->length});
                }
                for_each_position(layout, values, [&](int64_t position) { result.take(position); });
            }
            // Rows that are null as a whole are null in all columns.
            const Stretch rows{&chunk.value, chunk.value.offset, chunk.value.length};
            for_each_null(rows, [&](int64_t row) { result.blank(first_row + row); });
        }
        return result;
    }

  private:
    const ArrowSchema& schema(size_t column) const { return *schema_.value.children[column]; }

    static void check(ArrowArrayStream& stream, int error) {
        if (!error) return;
        const char* const message = stream.get_last_error ? stream.get_last_error(&stream) : nullptr;
        throw std::invalid_argument(message ? message : "the Arrow stream failed with error " + std::to_string(error));
    }

    void check(const ArrowArray& chunk) const {
        using detail::demand;
        demand(chunk.n_children == schema_.value.n_children, "a chunk lacks a column");
        demand(chunk.length >= 0 && chunk.offset >= 0, "a chunk has a negative length");
        for (int64_t i = 0; i < chunk.n_children; ++i) {
            const ArrowArray& child = *chunk.children[i];
            const bool is_long_enough = child.offset >= 0 && child.length - chunk.offset >= chunk.length;
            demand(is_long_enough, "a column is shorter than its chunk");
            if (!schema(static_cast<size_t>(i)).dictionary) continue;
            const ArrowArray* const words = child.dictionary;
            demand(words != nullptr, "a dictionary is missing");
            demand(words->length >= 0 && words->offset >= 0, "a dictionary has a negative length");
        }
    }

    Handed<ArrowSchema> schema_;
    std::vector<Handed<ArrowArray>> chunks_;
    int64_t rows_ = 0;
};

}  // namespace gainful
