// Every op of the engine, in one list.
#include <vector>

#include "graph/op.h"
#include "graph/ops/collectives_defs.h"
#include "graph/ops/control_defs.h"
#include "graph/ops/convolution_defs.h"
#include "graph/ops/custom_call_defs.h"
#include "graph/ops/dot_defs.h"
#include "graph/ops/elementwise_defs.h"
#include "graph/ops/fft_defs.h"
#include "graph/ops/indexing_defs.h"
#include "graph/ops/reduction_defs.h"
#include "graph/ops/shape_ops_defs.h"
#include "graph/ops/sort_defs.h"
#include "graph/ops/structure_defs.h"

namespace hum::graph {

std::span<const OpDef* const> op_table() {
  static const OpDef* const kTable[] = {
      // structure
      &kParameterOp,
      &kCallOp,
      &kOptimizationBarrierOp,
      &kStopGradientOp,
      &kCustomCallOp,
      // elementwise
      &kConstantOp,
      &kIotaOp,
      &kNegateOp,
      &kAbsOp,
      &kExponentialOp,
      &kExponentialMinusOneOp,
      &kLogOp,
      &kLogPlusOneOp,
      &kSqrtOp,
      &kRsqrtOp,
      &kTanhOp,
      &kLogisticOp,
      &kSineOp,
      &kCosineOp,
      &kFloorOp,
      &kCeilOp,
      &kRoundNearestEvenOp,
      &kSignOp,
      &kIsFiniteOp,
      &kNotOp,
      &kConvertOp,
      &kBitcastConvertOp,
      &kAddOp,
      &kSubtractOp,
      &kMultiplyOp,
      &kDivideOp,
      &kMaximumOp,
      &kMinimumOp,
      &kPowerOp,
      &kRemainderOp,
      &kAtan2Op,
      &kAndOp,
      &kOrOp,
      &kXorOp,
      &kShiftLeftOp,
      &kShiftRightLogicalOp,
      &kShiftRightArithmeticOp,
      &kCompareOp,
      &kSelectOp,
      &kBroadcastInDimOp,
      // shape
      &kReshapeOp,
      &kTransposeOp,
      &kReverseOp,
      &kConcatenateOp,
      &kSliceOp,
      &kPadOp,
      // dot
      &kDotGeneralOp,
      // convolution
      &kConvolutionOp,
      // fft
      &kRfftOp,
      &kIrfftOp,
      // reduction
      &kReduceSumOp,
      &kReduceMaxOp,
      &kReduceMinOp,
      &kReduceProdOp,
      &kReduceAndOp,
      &kReduceOrOp,
      // indexing
      &kGatherOp,
      &kScatterAddOp,
      &kDynamicSliceOp,
      &kDynamicUpdateSliceOp,
      // sorting and windows
      &kSortOp,
      &kReduceWindowSumOp,
      &kReduceWindowMaxOp,
      // control
      &kWhileOp,
      &kScanOp,
      // placement
      &kPlaceAsOp,
      &kAllReduceOp,
      &kAllGatherOp,
      &kReduceScatterOp,
      &kAllToAllOp,
      &kCollectivePermuteOp,
      &kShardOp,
  };
  return kTable;
}

}  // namespace hum::graph
