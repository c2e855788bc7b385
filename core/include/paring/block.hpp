// A few columns of X, copied out in float64: the support, or the candidates for it.
#pragma once

#include <span>
#include <vector>

#include "paring/parallel.hpp"
#include "paring/rows.hpp"

namespace paring {

class Block {
  public:
    virtual ~Block() = default;
    Index rows() const { return n_; }
    Index columns() const { return k_; }

    // z = X w + b
    virtual void scores(const double* w, double b, double* z, const Context& context) const = 0;
    // z += X w for `count` vectors of weights, the rows of w, and as many of scores.
    virtual void add_scores(const double* w, Index count, double* z, const Context& context) const = 0;
    // g = X'r
    virtual void gradient(const double* r, double* g, const Context& context) const = 0;
    // Lower triangle of X' diag(c) X into h (leading dimension ld), and X'c into first.
    virtual void hessian(const double* c, double* h, Index ld, double* first, const Context& context) const = 0;
    // out += a x_j, and x_j'r, of one column.
    virtual void add_column(Index j, double a, double* out) const = 0;
    virtual double dot_column(Index j, const double* r) const = 0;
    // out (columns of `others` x columns of this, row-major) = others' diag(c) this. Both blocks of one kind.
    virtual void cross(const Block& others, const double* c, double* out, const Context& context) const = 0;

    // out (k) = X' diag(c) x_j
    void gram_row(Index j, const double* c, double* out, const Context& context) const;

    // What was subtracted from each column: z = (X - shift) w + b.
    virtual double shift(Index) const { return 0; }

  protected:
    Block(Index n, Index k) : n_(n), k_(k) {}
    Index n_, k_;
};

// n x k by columns; each column less its mean, so that a far-off mean does not spoil the normal equations.
class DenseBlock final : public Block {
  public:
    // Takes columns `chosen` of a dense matrix; `lines_are_columns` tells its orientation. v: weights of the
    // mean, or null for no shift.
    DenseBlock(const Rows& rows, bool lines_are_columns, std::span<const Index> chosen, const double* v,
               const Context& context = {});
    void scores(const double* w, double b, double* z, const Context& context) const override;
    void add_scores(const double* w, Index count, double* z, const Context& context) const override;
    void gradient(const double* r, double* g, const Context& context) const override;
    void hessian(const double* c, double* h, Index ld, double* first, const Context& context) const override;
    void add_column(Index j, double a, double* out) const override;
    double dot_column(Index j, const double* r) const override;
    void cross(const Block& others, const double* c, double* out, const Context& context) const override;
    double shift(Index j) const override { return shift_[static_cast<std::size_t>(j)]; }

  private:
    const double* column(Index j) const { return values_.data() + j * n_; }
    std::vector<double> products_with(const DenseBlock& others, const double* c, const Context& context) const;
    std::vector<double> values_, shift_;
};

struct BlockEntry {
    double value;
    Index at;
};

// Rows for sums over samples, columns for one feature at a time.
class SparseBlock final : public Block {
  public:
    // `by_rows` = false leaves the row form out: enough for candidates.
    SparseBlock(const Rows& columns, std::span<const Index> chosen, bool by_rows);
    void scores(const double* w, double b, double* z, const Context& context) const override;
    void add_scores(const double* w, Index count, double* z, const Context& context) const override;
    void gradient(const double* r, double* g, const Context& context) const override;
    void hessian(const double* c, double* h, Index ld, double* first, const Context& context) const override;
    void add_column(Index j, double a, double* out) const override;
    double dot_column(Index j, const double* r) const override;
    void cross(const Block& others, const double* c, double* out, const Context& context) const override;
    // The same with every column of X: out is d x k.
    void cross_all(const Rows& columns, const double* c, double* out, const Context& context) const;

  private:
    struct Lines {
        std::vector<Index> starts;
        std::vector<BlockEntry> entries;
        std::span<const BlockEntry> operator[](Index l) const {
            const auto begin = static_cast<std::size_t>(starts[static_cast<std::size_t>(l)]);
            const auto end = static_cast<std::size_t>(starts[static_cast<std::size_t>(l) + 1]);
            return {entries.data() + begin, end - begin};
        }
    };
    static Lines transposed(const Lines& lines, Index length);
    double cost_per_row() const;
    Lines columns_, rows_;
};

}  // namespace paring
