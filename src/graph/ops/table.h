// Lists every op of the engine: a row defined in its family's file is declared here. For the
// families, and for the few users that recognise an op by its row (tools/op_addresses.txt).
#pragma once

#include "graph/op.h"

// clang-format off
#define HUM_FOR_EACH_OP(ROW)                                                                    \
  /* structure */                                                                               \
  ROW(kParameterOp) ROW(kCallOp) ROW(kOptimizationBarrierOp) ROW(kStopGradientOp)               \
  ROW(kCustomCallOp)                                                                            \
  /* constants */                                                                               \
  ROW(kConstantOp) ROW(kIotaOp)                                                                 \
  /* element-wise, one input */                                                                 \
  ROW(kNegateOp) ROW(kAbsOp) ROW(kExponentialOp) ROW(kExponentialMinusOneOp) ROW(kLogOp)        \
  ROW(kLogPlusOneOp) ROW(kSqrtOp) ROW(kRsqrtOp) ROW(kTanhOp) ROW(kLogisticOp) ROW(kSineOp)      \
  ROW(kCosineOp) ROW(kFloorOp) ROW(kCeilOp) ROW(kRoundNearestEvenOp) ROW(kSignOp)               \
  ROW(kIsFiniteOp) ROW(kNotOp) ROW(kConvertOp) ROW(kBitcastConvertOp)                           \
  /* element-wise, several */                                                                   \
  ROW(kAddOp) ROW(kSubtractOp) ROW(kMultiplyOp) ROW(kDivideOp) ROW(kMaximumOp) ROW(kMinimumOp)  \
  ROW(kPowerOp) ROW(kRemainderOp) ROW(kAtan2Op) ROW(kAndOp) ROW(kOrOp) ROW(kXorOp)              \
  ROW(kShiftLeftOp) ROW(kShiftRightLogicalOp) ROW(kShiftRightArithmeticOp) ROW(kCompareOp)      \
  ROW(kSelectOp)                                                                                \
  /* shape */                                                                                   \
  ROW(kBroadcastInDimOp) ROW(kReshapeOp) ROW(kTransposeOp) ROW(kReverseOp) ROW(kConcatenateOp)  \
  ROW(kSliceOp) ROW(kPadOp)                                                                     \
  /* products and transforms */                                                                 \
  ROW(kDotGeneralOp) ROW(kConvolutionOp) ROW(kRfftOp) ROW(kIrfftOp)                             \
  /* reduction */                                                                               \
  ROW(kReduceSumOp) ROW(kReduceMaxOp) ROW(kReduceMinOp) ROW(kReduceProdOp) ROW(kReduceAndOp)    \
  ROW(kReduceOrOp)                                                                              \
  /* indexing */                                                                                \
  ROW(kGatherOp) ROW(kScatterAddOp) ROW(kDynamicSliceOp) ROW(kDynamicUpdateSliceOp)             \
  /* sorting and windows */                                                                     \
  ROW(kSortOp) ROW(kReduceWindowSumOp) ROW(kReduceWindowMaxOp)                                  \
  /* control */                                                                                 \
  ROW(kWhileOp) ROW(kScanOp)                                                                    \
  /* placement */                                                                               \
  ROW(kPlaceAsOp) ROW(kAllReduceOp) ROW(kAllGatherOp) ROW(kReduceScatterOp) ROW(kAllToAllOp)    \
  ROW(kCollectivePermuteOp) ROW(kShardOp)
// clang-format on

namespace hum::graph {

#define HUM_DECLARE_ROW(row) extern const OpDef row;
HUM_FOR_EACH_OP(HUM_DECLARE_ROW)
#undef HUM_DECLARE_ROW

}  // namespace hum::graph
