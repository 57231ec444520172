# Makes a library, its tests and its benches from a folder, and gives each external library one target name.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
include(GoogleTest)

# Clones in different folders share ccache's entries. CCACHE_SLOPPINESS is there for precompiled headers.
find_program(HUM_CCACHE ccache)
if(HUM_CCACHE)
  set(ccache env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_SLOPPINESS=pch_defines,time_macros ${HUM_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ccache})
  set(CMAKE_C_COMPILER_LAUNCHER ${ccache})
endif()
find_program(HUM_MOLD mold)
if(HUM_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# hum_package(name pkg-config-module...): an imported target ext::name.
function(hum_package name)
  pkg_check_modules(${name} REQUIRED IMPORTED_TARGET ${ARGN})
  # g++ defines _GNU_SOURCE, which implies these. With other macros g++ would reject the precompiled header.
  get_target_property(options PkgConfig::${name} INTERFACE_COMPILE_OPTIONS)
  if(options)
    list(FILTER options EXCLUDE REGEX "^(-D_DEFAULT_SOURCE|-D_XOPEN_SOURCE=.*|-D_REENTRANT|-pthread)$")
    set_target_properties(PkgConfig::${name} PROPERTIES INTERFACE_COMPILE_OPTIONS "${options}")
  endif()
  add_library(ext::${name} ALIAS PkgConfig::${name})
endfunction()

# With a precompiled <string>, g++ 12 wrongly reports string operations as out of bounds (GCC bug 105651).
add_compile_options(-Wall -Wextra -Werror -Wno-missing-field-initializers -Wno-array-bounds
                    -Wno-stringop-overflow -Wno-stringop-overread -fno-math-errno)
if(HUM_SANITIZE)
  # With -O2, instrumented code takes 1.5 times as long to compile.
  add_compile_options(-O1 -fsanitize=${HUM_SANITIZE} -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${HUM_SANITIZE})
  if(HUM_SANITIZE STREQUAL "address")
    add_compile_options(-fsanitize=undefined -fno-sanitize-recover=undefined)
    add_link_options(-fsanitize=undefined)
  endif()
endif()

# Tests, benches and commands spend their time in the libraries below them. -Og compiles them faster than -O2 does.
function(hum_rarely_runs target)
  target_compile_options(${target} PRIVATE -Og)
endfunction()

# Headers that are parsed once for all libraries, and once for all tests.
function(hum_precompiled target header)
  file(WRITE ${CMAKE_BINARY_DIR}/${target}.cpp "")
  add_library(${target} OBJECT ${CMAKE_BINARY_DIR}/${target}.cpp)
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/cmake)
  target_link_libraries(${target} PRIVATE ${ARGN})
  target_precompile_headers(${target} PRIVATE <${header}>)
  set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "${CMAKE_SOURCE_DIR}/cmake/precompile.sh;${ccache}")
endfunction()
hum_package(fmt fmt)
hum_package(spdlog spdlog)
hum_precompiled(hum_pch precompiled.h ext::fmt ext::spdlog Threads::Threads)
hum_precompiled(hum_test_pch precompiled_test.h ext::fmt ext::spdlog Threads::Threads GTest::gmock)
hum_rarely_runs(hum_test_pch)

function(hum_compile_as_test target)
  hum_rarely_runs(${target})
  target_precompile_headers(${target} REUSE_FROM hum_test_pch)
endfunction()

add_library(hum_test_main STATIC ${CMAKE_SOURCE_DIR}/src/base/testing/main.cpp
                                 ${CMAKE_SOURCE_DIR}/src/base/testing/postgres_server.cpp
                                 ${CMAKE_SOURCE_DIR}/src/base/testing/process.cpp
                                 ${CMAKE_SOURCE_DIR}/src/base/testing/s3_server.cpp
                                 ${CMAKE_SOURCE_DIR}/src/base/testing/seaweed_server.cpp)
target_link_libraries(hum_test_main PUBLIC hum_base GTest::gmock)
hum_compile_as_test(hum_test_main)

# hum_library(folder DEPS folders... LINK external targets... TEST_DEPS folders that only the tests need...)
# All *.cpp files below the folder are sources. *_test.cpp make hum_<folder>_test, *_bench.cpp make hum_<folder>_bench.
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
    set(sources ${CMAKE_BINARY_DIR}/empty.cpp)  # a folder with only headers
    file(TOUCH ${sources})
  endif()
  add_library(hum_${folder} STATIC ${sources})
  target_include_directories(hum_${folder} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(hum_${folder} PUBLIC ${ARG_DEPS} ${ARG_LINK})
  target_precompile_headers(hum_${folder} REUSE_FROM hum_pch)
  if(tests AND BUILD_TESTING)
    add_executable(hum_${folder}_test ${tests})
    target_link_libraries(hum_${folder}_test PRIVATE hum_${folder} ${ARG_TEST_DEPS}
                          hum_test_main)
    hum_compile_as_test(hum_${folder}_test)
    hum_discover_tests(hum_${folder}_test)
  endif()
  if(benches)
    add_executable(hum_${folder}_bench EXCLUDE_FROM_ALL ${benches})
    target_link_libraries(hum_${folder}_bench PRIVATE hum_${folder} ${ARG_TEST_DEPS}
                          benchmark::benchmark_main)
  endif()
endfunction()

# The longest time of a test in seconds. Sanitizers make programs several times slower.
set(HUM_TEST_LIMIT_S 600)
if(HUM_SANITIZE)
  set(HUM_TEST_LIMIT_S 2400)
endif()

# HUM_THIRD_PARTY tells tests where the wheels are (a single variable, since gtest_discover_tests would split a list).
# A test with Slow in its name gets the label slow: `make test-slow` runs it, `make test` does not.
function(hum_discover_tests target)
  set(environment ENVIRONMENT "HUM_THIRD_PARTY=${HUM_THIRD_PARTY}")
  gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST TEST_FILTER -*Slow*
    PROPERTIES TIMEOUT ${HUM_TEST_LIMIT_S} ${environment})
  gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST TEST_FILTER *Slow*
    PROPERTIES LABELS slow TIMEOUT 3600 ${environment})
endfunction()
