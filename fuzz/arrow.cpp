// Arrow columns. The input describes a valid table from a producer, and thereby the expected result.
#include <cmath>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "../native/arrow.hpp"
#include "harness.hpp"

using namespace gainful;
using namespace fuzz;
using detail::Layout;

namespace {

constexpr const char* kFormats[] = {"u", "U", "vu", "z", "Z", "vz", "c", "C", "s", "S", "i", "I",
                                    "l", "L", "e",  "f", "g", "b",  "tdD"};

/// The expected result for a row: an ID and a number, nothing if it is null.
struct Cell {
    std::string id;
    double number = 0;
};
using Cells = std::vector<std::optional<Cell>>;

/// A buffer of exact size at any address.
class Buffer {
  public:
    Buffer(const std::string& bytes, size_t shift) : block_(new char[shift + bytes.size()]), shift_(shift) {
        if (!bytes.empty()) std::memcpy(block_.get() + shift, bytes.data(), bytes.size());
    }
    const void* data() const { return block_.get() + shift_; }

  private:
    std::unique_ptr<char[]> block_;
    size_t shift_;
};

/// An array, its memory, and the expected values of its rows [offset, offset + length).
struct Array {
    ArrowArray raw{};
    std::deque<Buffer> buffers;
    std::vector<const void*> pointers;
    std::vector<ArrowArray*> children;
    Cells cells;
};

double naive_half(uint16_t bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double sign = bits >> 15 ? -1 : 1;
    if (exponent == 31) return fraction ? std::nan("") : sign * HUGE_VAL;
    const double unit = std::pow(2.0, std::max(exponent, 1) - 15);
    return sign * unit * ((exponent ? 1.0 : 0.0) + fraction / 1024.0);
}

class Producer {
  public:
    explicit Producer(Draw& draw) : draw_(draw) {}

    /// An array of at least this many rows, with an offset and extra rows at the end.
    Array* array_of(const char* format, int64_t length) {
        Array& made = arrays_.emplace_back();
        const int64_t offset = draw_.below(10), rows = offset + length + draw_.below(3);
        const Layout layout = detail::layout_of(format);
        Cells cells(static_cast<size_t>(rows));
        for (std::optional<Cell>& cell : cells) cell.emplace();
        std::vector<std::string> buffers;
        switch (layout) {
            case Layout::strings: buffers = strings<int32_t>(cells); break;
            case Layout::large_strings: buffers = strings<int64_t>(cells); break;
            case Layout::views: buffers = views(cells); break;
            case Layout::half: buffers = values<uint16_t>(cells, naive_half); break;
            case Layout::single: buffers = values<float>(cells, [](float value) { return double{value}; }); break;
            case Layout::twice: buffers = values<double>(cells, [](double value) { return value; }); break;
            case Layout::boolean: buffers = bits(cells); break;
            case Layout::other: buffers = {std::string(static_cast<size_t>(4 * rows), '\0')}; break;
            default: detail::with_integer(layout, [&](auto type) { buffers = integers<decltype(type)>(cells); });
        }
        finish(made, buffers, std::move(cells), offset, length);
        return &made;
    }

    /// Positions in a dictionary.
    Array* positions_of(const char* format, int64_t length, Array* words) {
        Array* const made = array_of(format, length);
        made->raw.dictionary = &words->raw;
        const int64_t size = words->raw.length;
        std::string values;
        Cells cells(static_cast<size_t>(made->raw.offset + length));
        detail::with_integer(detail::layout_of(format), [&](auto type) {
            for (std::optional<Cell>& cell : cells) {
                // Without words, all rows are null and positions are irrelevant.
                const int64_t position = size ? draw_.below(size) : draw_.byte();
                put(values, static_cast<decltype(type)>(position));
                if (size) cell = words->cells[static_cast<size_t>(position)];
            }
        });
        const int64_t offset = made->raw.offset;
        std::vector<std::string> buffers{values};
        *made = Array();
        finish(*made, buffers, std::move(cells), offset, length, size == 0);
        made->raw.dictionary = &words->raw;
        return made;
    }

    /// Rows of structs over columns that hold them from the same offset on.
    Array* chunk_of(const std::vector<Array*>& columns, int64_t offset, int64_t length) {
        Array& made = arrays_.emplace_back();
        Cells cells(static_cast<size_t>(offset + length));
        for (std::optional<Cell>& cell : cells) cell.emplace();
        finish(made, {}, std::move(cells), offset, length);
        for (Array* const column : columns) made.children.push_back(&column->raw);
        made.raw.n_children = static_cast<int64_t>(columns.size());
        made.raw.children = made.children.data();
        made.raw.release = [](ArrowArray* array) { array->release = nullptr; };
        return &made;
    }

  private:
    template <class T>
    static void put(std::string& bytes, T value) {
        bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }

    std::string word() {
        std::string result(static_cast<size_t>(draw_.below(40)), '\0');
        for (char& c : result) c = static_cast<char>(draw_.byte());
        return result;
    }

    template <class Offset>
    std::vector<std::string> strings(Cells& cells) {
        std::string offsets, bytes = word();
        put(offsets, static_cast<Offset>(bytes.size()));
        for (std::optional<Cell>& cell : cells) {
            bytes += cell->id = word();
            put(offsets, static_cast<Offset>(bytes.size()));
        }
        return {offsets, bytes};
    }

    std::vector<std::string> views(Cells& cells) {
        std::vector<std::string> parts(static_cast<size_t>(1 + draw_.below(2)));
        std::string all;
        for (std::optional<Cell>& cell : cells) {
            cell->id = word();
            put(all, static_cast<int32_t>(cell->id.size()));
            std::string twelve = cell->id;
            if (twelve.size() > 12) {
                const size_t part = static_cast<size_t>(draw_.below(static_cast<int64_t>(parts.size())));
                twelve.resize(4);
                put(twelve, static_cast<int32_t>(part));
                put(twelve, static_cast<int32_t>(parts[part].size()));
                parts[part] += cell->id;
            }
            twelve.resize(12, '\0');
            all += twelve;
        }
        std::vector<std::string> buffers{all};
        std::string sizes;
        for (const std::string& part : parts) {
            buffers.push_back(part);
            put(sizes, static_cast<int64_t>(part.size()));
        }
        buffers.push_back(sizes);
        return buffers;
    }

    template <class T>
    std::vector<std::string> values(Cells& cells, const std::function<double(T)>& number_of) {
        std::string all;
        for (std::optional<Cell>& cell : cells) {
            const T value = draw_.value<T>();
            put(all, value);
            cell->number = number_of(value);
        }
        return {all};
    }

    template <class T>
    std::vector<std::string> integers(Cells& cells) {
        std::string all;
        for (std::optional<Cell>& cell : cells) {
            const T value = draw_.value<T>();
            put(all, value);
            cell->number = static_cast<double>(value);
            cell->id = std::to_string(value);
        }
        return {all};
    }

    std::vector<std::string> bits(Cells& cells) {
        std::string all((cells.size() + 7) / 8, '\0');
        for (size_t i = 0; i < cells.size(); ++i) {
            const bool value = draw_.flip();
            if (value) all[i / 8] = static_cast<char>(all[i / 8] | 1 << i % 8);
            cells[i]->number = value;
        }
        return {all};
    }

    /// Makes some rows null and records which. A word of a dictionary may already be null, which is separate.
    std::string validity(Cells& cells, bool all_null) {
        std::string marks((cells.size() + 7) / 8, '\0');
        for (size_t i = 0; i < cells.size(); ++i) {
            if (all_null || draw_.below(4) == 3) {
                cells[i].reset();
            } else {
                marks[i / 8] = static_cast<char>(marks[i / 8] | 1 << i % 8);
            }
        }
        return marks;
    }

    void finish(Array& made, const std::vector<std::string>& buffers, Cells cells, int64_t offset, int64_t length,
                bool all_null = false) {
        const size_t shift = static_cast<size_t>(draw_.below(8));
        const bool has_nulls = all_null || draw_.flip();
        if (has_nulls) made.buffers.emplace_back(validity(cells, all_null), shift);
        made.pointers.push_back(has_nulls ? made.buffers.back().data() : nullptr);
        for (const std::string& bytes : buffers) made.pointers.push_back(made.buffers.emplace_back(bytes, shift).data());
        made.cells.assign(cells.begin() + offset, cells.begin() + offset + length);
        made.raw.offset = offset;
        made.raw.length = length;
        made.raw.null_count = has_nulls ? -1 : 0;
        made.raw.n_buffers = static_cast<int64_t>(made.pointers.size());
        made.raw.buffers = made.pointers.data();
    }

    Draw& draw_;
    std::deque<Array> arrays_;
};

struct Column {
    ArrowSchema schema{}, words{};
    Cells cells;
};

/// A stream of the chunks, and the expected columns.
class Table {
  public:
    explicit Table(Draw& draw) : producer_(draw), columns_(static_cast<size_t>(1 + draw.below(3))) {
        for (Column& column : columns_) {
            column.schema.format = column.schema.name = kFormats[draw.below(std::size(kFormats))];
            if (detail::is_integer(detail::layout_of(column.schema.format)) && draw.flip()) {
                column.words.format = kFormats[draw.below(std::size(kFormats))];
                column.schema.dictionary = &column.words;
            }
            pointers_.push_back(&column.schema);
        }
        schema_.format = "+s";
        schema_.n_children = static_cast<int64_t>(columns_.size());
        schema_.children = pointers_.data();
        schema_.release = [](ArrowSchema* schema) { schema->release = nullptr; };
        std::vector<Array*> dictionaries(columns_.size(), nullptr);
        for (int64_t left = draw.below(4); left > 0; --left) add_chunk(draw, dictionaries);
    }

    ArrowArrayStream stream() {
        ArrowArrayStream result{};
        result.private_data = this;
        result.get_schema = [](ArrowArrayStream* self, ArrowSchema* out) {
            *out = static_cast<Table*>(self->private_data)->schema_;
            return 0;
        };
        result.get_next = [](ArrowArrayStream* self, ArrowArray* out) {
            Table& table = *static_cast<Table*>(self->private_data);
            *out = table.next_ < table.chunks_.size() ? table.chunks_[table.next_++]->raw : ArrowArray{};
            return 0;
        };
        result.release = [](ArrowArrayStream* self) { self->release = nullptr; };
        return result;
    }

    const std::vector<Column>& columns() const { return columns_; }

  private:
    void add_chunk(Draw& draw, std::vector<Array*>& dictionaries) {
        const int64_t offset = draw.below(9), length = draw.below(20);
        std::vector<Array*> arrays;
        for (size_t i = 0; i < columns_.size(); ++i) {
            const Column& column = columns_[i];
            if (!column.schema.dictionary) {
                arrays.push_back(producer_.array_of(column.schema.format, offset + length));
                continue;
            }
            // One dictionary for several chunks, or one per chunk.
            if (!dictionaries[i] || draw.flip()) dictionaries[i] = producer_.array_of(column.words.format, draw.below(20));
            arrays.push_back(producer_.positions_of(column.schema.format, offset + length, dictionaries[i]));
        }
        Array* const chunk = producer_.chunk_of(arrays, offset, length);
        for (size_t i = 0; i < columns_.size(); ++i) {
            for (size_t row = 0; row < static_cast<size_t>(length); ++row) {
                const bool is_row = chunk->cells[row].has_value();
                columns_[i].cells.push_back(is_row ? arrays[i]->cells[static_cast<size_t>(offset) + row] : std::nullopt);
            }
        }
        chunks_.push_back(chunk);
    }

    Producer producer_;
    std::vector<Column> columns_;
    std::vector<ArrowSchema*> pointers_;
    ArrowSchema schema_{};
    std::vector<Array*> chunks_;
    size_t next_ = 0;
};

void check_ids(const ArrowIds& ids, const Cells& expected) {
    CHECK(ids.start.size() == expected.size());
    check_spans(ids.start, ids.length, static_cast<int64_t>(ids.data.size()), 0);
    for (size_t i = 0; i < expected.size(); ++i) {
        const Id found(ids.data.data() + ids.start[i], static_cast<size_t>(ids.length[i]));
        CHECK(found == (expected[i] ? expected[i]->id : std::string()));
    }
}

void check_numbers(const ArrowNumbers& numbers, const Cells& expected) {
    CHECK(numbers.values.size() == expected.size());
    std::vector<int64_t> nulls;
    for (size_t i = 0; i < expected.size(); ++i) {
        const double value = numbers.values[i];
        const double wanted = expected[i] ? expected[i]->number : std::nan("");
        CHECK(std::isnan(wanted) ? std::isnan(value) : value == wanted);
        if (!expected[i] && nulls.size() < 10) nulls.push_back(static_cast<int64_t>(i));
    }
    CHECK(numbers.nulls == nulls);
}

template <class Read, class Check>
void check_column(const ArrowTable& table, size_t number, Layout layout, Check check) {
    const bool is_readable = Read::reads(layout);
    try {
        const Read read = table.read<Read>(number);
        CHECK(is_readable);
        check(read);
    } catch (const UnsupportedFormat&) {
        CHECK(!is_readable);
    }
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Draw draw(data, size);
    Table produced(draw);
    const ArrowTable table(produced.stream());
    const std::vector<Column>& columns = produced.columns();
    CHECK(table.columns() == columns.size());
    for (size_t i = 0; i < columns.size(); ++i) {
        const Column& column = columns[i];
        CHECK(table.rows() == static_cast<int64_t>(column.cells.size()));
        const Layout layout = detail::layout_of(column.schema.dictionary ? column.words.format : column.schema.format);
        check_column<ArrowIds>(table, i, layout, [&](const ArrowIds& ids) { check_ids(ids, column.cells); });
        check_column<ArrowNumbers>(table, i, layout, [&](const ArrowNumbers& read) { check_numbers(read, column.cells); });
    }
    return 0;
}
