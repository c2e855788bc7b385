#include <cstring>

#include "paring/products.hpp"
#include "wide.hpp"

namespace paring {

namespace {

constexpr Index tile = 4;        // lines in registers, a side
constexpr Index longest = 1024;  // elements of a line at a time: tiles stay in the first-level cache
constexpr Index together = 32;   // tiles of columns that share such a chunk of their row while it is there

// sums[r * tile + c] += rows[r]' columns[c] over n elements.
[[gnu::always_inline]] inline void add_tile_of(const double* const* rows, const double* const* columns, Index at,
                                               Index n, double* sums) {
    Wide wide[tile][tile] = {};
    Index e = at;
    for (; e + width <= at + n; e += width) {
        Wide right[tile];
        for (Index c = 0; c < tile; ++c) right[c] = load(columns[c] + e);
        for (Index r = 0; r < tile; ++r) {
            const Wide left = load(rows[r] + e);
            for (Index c = 0; c < tile; ++c) wide[r][c] += left * right[c];
        }
    }
    for (Index r = 0; r < tile; ++r)
        for (Index c = 0; c < tile; ++c) {
            double total = sum(wide[r][c]);
            for (Index rest = e; rest < at + n; ++rest) total += rows[r][rest] * columns[c][rest];
            sums[r * tile + c] += total;
        }
}

PARING_CLONES void add_tile(const double* const* rows, const double* const* columns, Index at, Index n, double* sums) {
    add_tile_of(rows, columns, at, n, sums);
}

// The lines of a tile; where there are fewer left, the last one again.
struct TileLines {
    const double* line[tile];
    TileLines(std::span<const double* const> lines, Index from) {
        const auto last = static_cast<Index>(lines.size()) - 1;
        for (Index l = 0; l < tile; ++l) line[l] = lines[static_cast<std::size_t>(std::min(from + l, last))];
    }
};

// Rows row .. row + tile - 1 of the triangle.
void rows_of_tiles(std::span<const double* const> lines, Index row, Index length, double* out, Index ld, Index first) {
    const auto count = static_cast<Index>(lines.size());
    const Index width_of_row = std::min(row + tile, count), rows = std::min(tile, count - row);
    const TileLines left(lines, row);
    double sums[together][tile * tile];
    for (Index from = 0; from < width_of_row; from += together * tile) {
        const Index tiles = std::min(together, (width_of_row - from + tile - 1) / tile);
        std::memset(sums, 0, sizeof sums);
        for (Index e = 0; e < length; e += longest)
            for (Index t = 0; t < tiles; ++t)
                add_tile(left.line, TileLines(lines, from + t * tile).line, e, std::min(longest, length - e), sums[t]);
        for (Index t = 0; t < tiles; ++t)
            for (Index r = 0; r < rows; ++r)
                for (Index c = 0; c < tile; ++c) {
                    const Index column = from + t * tile + c;
                    if (column <= row + r) out[(row - first + r) * ld + column] = sums[t][r * tile + c];
                }
    }
}

}  // namespace

void lower_products(std::span<const double* const> lines, Index first, Index length, double* out, Index ld,
                    const Context& context) {
    const Index rows = static_cast<Index>(lines.size()) - first, groups = (rows + tile - 1) / tile;
    if (rows <= 0) return;
    const double mean_width = static_cast<double>(first) + 0.5 * static_cast<double>(rows);
    for_ranges(groups, mean_width * static_cast<double>(length * tile), context, [&](Index begin, Index end, int) {
        for (Index g = begin; g < end; ++g)
            rows_of_tiles(lines, first + tile * alternating(g, groups), length, out, ld, first);
    });
}

}  // namespace paring
