// A run text as columns, with rows grouped by query.
#pragma once

#include <cstdint>
#include <vector>

#include "faults.hpp"
#include "lists.hpp"
#include "parallel.hpp"

namespace gainful {

struct RunColumns {
    std::vector<Id> query_ids;
    std::vector<int64_t> list_offsets, document_start, document_length, line;
    std::vector<double> score, rank;
    Faults faults;
};

inline RunColumns read_run(const char* text, const char* end, size_t threads) {
    Grouping grouping = group_by_query(skip_byte_order_mark(text, end), end, threads);
    const size_t lists = grouping.query_ids.size();
    std::vector<std::vector<Row>> rows(lists);
    std::vector<Faults> faults(std::max<size_t>(1, threads));
    for_each_task(lists, threads, [&](size_t worker, size_t list) {
        read_list(grouping, list, text, end, false, rows[list], faults[worker]);
    });

    RunColumns columns;
    columns.query_ids = std::move(grouping.query_ids);
    columns.list_offsets.push_back(0);
    for (std::vector<Row>& list : rows) {
        for (const Row& row : list) {
            columns.document_start.push_back(row.document.data() - text);
            columns.document_length.push_back(static_cast<int64_t>(row.document.size()));
            columns.score.push_back(row.score);
            columns.rank.push_back(row.rank);
            columns.line.push_back(row.where);
        }
        columns.list_offsets.push_back(static_cast<int64_t>(columns.score.size()));
        std::vector<Row>().swap(list);
    }
    for (const Faults& part : faults) columns.faults.merge(part);
    return columns;
}

}  // namespace gainful
