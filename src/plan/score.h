// Compares predictions with measurements.
#pragma once

#include <span>
#include <vector>

#include "base/fields.h"

namespace hum::plan {

struct Score {
  int64_t rows = 0;
  double mape_percent = 0;      // mean of |predicted / measured - 1|
  double worst_percent = 0;     // the largest of these
  double bias_percent = 0;      // mean of predicted / measured - 1
  double rank_correlation = 0;  // Spearman's; 0 for fewer than two rows
  template <class V>
  void visit_fields(V& v) {
    v("rows", rows, "runs with a measured time");
    v("mape_percent", mape_percent, "mean absolute error");
    v("worst_percent", worst_percent, "largest absolute error");
    v("bias_percent", bias_percent, "mean error; positive: predicted too slow");
    v("rank_correlation", rank_correlation, "Spearman's");
  }
};

// Needs as many predictions as measurements, all above zero.
Score score(std::span<const double> predicted, std::span<const double> measured);

// The half width, in logarithms, of an interval that contains a new case's measured / predicted
// with the given probability if it comes from the same distribution: split conformal prediction.
// Infinite if there are too few. Source: Vovk et al. 2005; Lei et al. 2018.
double conformal_half_width(std::vector<double> log_errors, double probability);

}  // namespace hum::plan
