// The OpDef rows of the elementwise files, for the op table.
#pragma once

#include "graph/op.h"

namespace hum::graph {

extern const OpDef kNegateOp, kAbsOp, kExponentialOp, kExponentialMinusOneOp, kLogOp, kLogPlusOneOp,
    kSqrtOp, kRsqrtOp, kTanhOp, kLogisticOp, kSineOp, kCosineOp, kFloorOp, kCeilOp,
    kRoundNearestEvenOp, kSignOp, kIsFiniteOp, kNotOp, kConvertOp, kBitcastConvertOp;
extern const OpDef kAddOp, kSubtractOp, kMultiplyOp, kDivideOp, kMaximumOp, kMinimumOp, kPowerOp,
    kRemainderOp, kAtan2Op, kAndOp, kOrOp, kXorOp, kShiftLeftOp, kShiftRightLogicalOp,
    kShiftRightArithmeticOp, kCompareOp, kSelectOp;
extern const OpDef kConstantOp, kIotaOp, kBroadcastInDimOp;

}  // namespace hum::graph
