#include "eval/metrics/frechet.h"

#include <Eigen/Eigenvalues>
#include <algorithm>

#include "base/error.h"

namespace hum::eval {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

struct Gaussian {
  VectorXd mean;
  MatrixXd covariance;
};

Gaussian fit(const audio::Matrix<float>& embeddings) {
  using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const MatrixXd x =
      Eigen::Map<const RowMajor>(embeddings.values.data(), embeddings.rows, embeddings.columns)
          .cast<double>();
  const VectorXd mean = x.colwise().mean();
  const MatrixXd centered = x.rowwise() - mean.transpose();
  return {mean, centered.transpose() * centered / static_cast<double>(embeddings.rows - 1)};
}

}  // namespace

double frechet_distance(const audio::Matrix<float>& a, const audio::Matrix<float>& b) {
  HUM_REQUIRE(a.columns == b.columns, "frechet_distance: embeddings of {} and of {} numbers",
              a.columns, b.columns);
  HUM_REQUIRE(a.rows >= 2 && b.rows >= 2, "frechet_distance: {} and {} embeddings", a.rows, b.rows);
  const Gaussian p = fit(a), q = fit(b);
  // (A B)^1/2 has the trace of (A^1/2 B A^1/2)^1/2, which is symmetric.
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(p.covariance);
  const VectorXd roots = eigen.eigenvalues().cwiseMax(0).cwiseSqrt();
  const MatrixXd root =
      eigen.eigenvectors() * roots.asDiagonal() * eigen.eigenvectors().transpose();
  const Eigen::SelfAdjointEigenSolver<MatrixXd> product(root * q.covariance * root,
                                                        Eigen::EigenvaluesOnly);
  const double cross = product.eigenvalues().cwiseMax(0).cwiseSqrt().sum();
  const double distance =
      (p.mean - q.mean).squaredNorm() + p.covariance.trace() + q.covariance.trace() - 2 * cross;
  return distance < 0 ? 0 : distance;  // rounding may make the result of equal sets negative
}

}  // namespace hum::eval
