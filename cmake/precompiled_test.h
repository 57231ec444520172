// As precompiled.h, for tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "precompiled.h"
