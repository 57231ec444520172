# What a person types. Each target brings what it needs (packages, wheels, configure, build); a second run does nothing.
.DEFAULT_GOAL := build
.PHONY: demo test test-slow build bench asan asan-quick tsan lint tidy layers format setup fetch clean clean-all help

JOBS ?= $(shell nproc)
CTEST := ctest --output-on-failure --no-tests=error -j$(JOBS)
SOURCES = git ls-files -z -- 'src/*.h' 'src/*.cpp' 'tests/*.h' 'tests/*.cpp' 'bench/*.h' 'bench/*.cpp'
ASAN_SETTINGS := ASAN_OPTIONS=detect_odr_violation=0 LSAN_OPTIONS=suppressions=$(CURDIR)/tools/sanitizers/lsan.supp
# What reads files that others wrote, and what builds graphs.
ASAN_QUICK := base audio graph plan

##   demo        sing in, violin out: examples/vocadito_10.wav -> out/violin.wav, and how many of its notes are heard in it
demo: build/build.ninja
	@cmake --build build -j$(JOBS) --target hum
	@mkdir -p out
	build/bin/hum generate examples/vocadito_10.wav --preset violin -o out/violin.wav --midi out/melody.mid
	build/bin/hum notes out/violin.wav -o out/heard.mid
	build/bin/hum evaluate notes out/melody.mid out/heard.mid --onset-tolerance 100 --beside violin

##   test        every test but the slow ones
test: build
	@$(CTEST) --test-dir build -LE slow

##   test-slow   the slow ones
test-slow: build
	@$(CTEST) --test-dir build -L slow

##   build       the program build/bin/hum, and the tests
build: build/build.ninja
	@cmake --build build -j$(JOBS)

# Configured anew when a folder comes; ninja itself notices every other change of CMake files and lists of sources.
build/build.ninja: CMakePresets.json $(wildcard src/*/CMakeLists.txt tests/CMakeLists.txt) | setup fetch
	@cmake --preset release > build/configure.log || { cat build/configure.log; exit 1; }
	@touch $@

##   bench       the bars: make bench ONLY=name for one, all without; stored if the machine is quiet and all is committed
bench: build/build.ninja
	@tools/bench $(ONLY)

##   asan, tsan  the tests under AddressSanitizer + UBSan, under ThreadSanitizer; ONLY=regex for some
asan: setup fetch
	@cmake --preset asan > /dev/null
	@cmake --build build-asan -j$(JOBS)
	@$(ASAN_SETTINGS) $(CTEST) --test-dir build-asan -LE slow $(if $(ONLY),-R '$(ONLY)')

##   asan-quick  parsers and graph building under AddressSanitizer + UBSan: minutes
asan-quick: setup fetch
	@cmake --preset asan > /dev/null
	@cmake --build build-asan -j$(JOBS) --target $(ASAN_QUICK:%=hum_%_test)
	@for part in $(ASAN_QUICK); do \
	  $(ASAN_SETTINGS) build-asan/src/$$part/hum_$${part}_test --gtest_brief=1 --gtest_filter=-*Slow* || exit 1; \
	done

# Left out: the second plugin, whose locks ThreadSanitizer mistakes for faults. Programs that a plugin compiled lie in
# memory alone, where no suppression finds what they copy: calls of memcpy are not looked into, accesses of ours are.
tsan: setup fetch
	@cmake --preset tsan > /dev/null
	@cmake --build build-tsan -j$(JOBS)
	@TSAN_OPTIONS=suppressions=$(CURDIR)/tools/sanitizers/tsan.supp:ignore_noninstrumented_modules=1 \
	  $(CTEST) --test-dir build-tsan -LE slow -E 'AnyPlugin.*xla_cpu_pjrt' $(if $(ONLY),-R '$(ONLY)')

##   lint        formatting, the walls between folders, ops named outside graph/ops, prose: seconds
lint: layers
	@tools/check_ops.py
	@tools/check_prose.py
	@tools/setup.sh lint
	@$(SOURCES) | xargs -0 -n20 -P$(JOBS) clang-format --dry-run --Werror

layers: setup
	@tools/check_layers.py

##   tidy        clang-tidy over every source that changed since it last passed; ONLY=part-of-a-path for some
tidy: build
	@tools/setup.sh tidy
	@tools/tidy.py $(ONLY)

##   format      clang-format over every source
format:
	@tools/setup.sh lint
	@$(SOURCES) | xargs -0 clang-format -i

##   setup       the Debian packages of packages.txt that are missing (as root)
setup:
	@tools/setup.sh

##   fetch       the wheels of wheels.lock, below build/third_party
fetch: setup
	@tools/fetch_wheels.sh

##   clean       all that was compiled; clean-all: also the wheels and out/
clean:
	rm -rf build-asan build-tsan build-debug
	if [ -d build ]; then find build -mindepth 1 -maxdepth 1 ! -name third_party -exec rm -rf {} +; fi

clean-all: clean
	rm -rf build out

help:
	@sed -n 's/^##   /make /p' Makefile
