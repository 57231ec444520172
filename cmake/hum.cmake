# How a folder becomes a library, its tests and its benches; and the outside libraries by one name each.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
include(GoogleTest)

find_program(HUM_CCACHE ccache)
if(HUM_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${HUM_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${HUM_CCACHE})
endif()

# hum_package(name pkg-config-module...): an imported target ext::name.
function(hum_package name)
  pkg_check_modules(${name} REQUIRED IMPORTED_TARGET ${ARGN})
  add_library(ext::${name} ALIAS PkgConfig::${name})
endfunction()

add_compile_options(-Wall -Wextra -Werror -Wno-missing-field-initializers -fno-math-errno)
if(HUM_SANITIZE)
  # g++ 12 takes libstdc++'s <regex> for uninitialised once it is instrumented.
  add_compile_options(-fsanitize=${HUM_SANITIZE} -fno-omit-frame-pointer -g1 -Wno-maybe-uninitialized)
  add_link_options(-fsanitize=${HUM_SANITIZE})
  if(HUM_SANITIZE STREQUAL "address")
    add_compile_options(-fsanitize=undefined -fno-sanitize-recover=undefined)
    add_link_options(-fsanitize=undefined)
  endif()
endif()

add_library(hum_test_main STATIC ${CMAKE_SOURCE_DIR}/src/base/testing/main.cpp
                                 ${CMAKE_SOURCE_DIR}/src/base/testing/s3_server.cpp)
target_link_libraries(hum_test_main PUBLIC hum_base GTest::gmock)

# hum_library(folder DEPS folders... LINK outside targets... TEST_DEPS folders only the tests need...)
# Sources are every *.cpp below the folder; *_test.cpp make hum_<folder>_test, *_bench.cpp hum_<folder>_bench.
function(hum_library folder)
  cmake_parse_arguments(ARG "" "" "DEPS;LINK;TEST_DEPS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  set(tests ${sources})
  set(benches ${sources})
  list(FILTER sources EXCLUDE REGEX "(_(test|bench)|/main|/allocator|/testing/[a-z0-9_]+)\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER benches INCLUDE REGEX "_bench\\.cpp$")
  list(TRANSFORM ARG_DEPS PREPEND hum_)
  list(TRANSFORM ARG_TEST_DEPS PREPEND hum_)

  if(NOT sources)
    set(sources ${CMAKE_BINARY_DIR}/empty.cpp)  # a folder of headers alone
    file(TOUCH ${sources})
  endif()
  add_library(hum_${folder} STATIC ${sources})
  target_include_directories(hum_${folder} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(hum_${folder} PUBLIC ${ARG_DEPS} ${ARG_LINK})
  if(tests AND BUILD_TESTING)
    add_executable(hum_${folder}_test ${tests})
    target_link_libraries(hum_${folder}_test PRIVATE hum_${folder} ${ARG_TEST_DEPS}
                          hum_test_main)
    hum_discover_tests(hum_${folder}_test)
  endif()
  if(benches)
    add_executable(hum_${folder}_bench EXCLUDE_FROM_ALL ${benches})
    target_link_libraries(hum_${folder}_bench PRIVATE hum_${folder} ${ARG_TEST_DEPS}
                          benchmark::benchmark_main)
  endif()
endfunction()

# Tests find the wheels wherever they are unpacked (one variable: gtest_discover_tests would split a list).
# A test with Slow in its name gets the label slow: `make test-slow` runs it, `make test` leaves it out.
function(hum_discover_tests target)
  set(environment ENVIRONMENT "HUM_THIRD_PARTY=${HUM_THIRD_PARTY}")
  gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST TEST_FILTER -*Slow*
    PROPERTIES TIMEOUT 600 ${environment})
  gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST TEST_FILTER *Slow*
    PROPERTIES LABELS slow TIMEOUT 3600 ${environment})
endfunction()
