// What users type, and what hum answers: one row a case, each run by a shell in a folder that holds
// the files of write_inputs(). To add a case, add a row, and its file if it needs one.
#include <algorithm>
#include <regex>

#include "base/files.h"
#include "base/folders.h"
#include "tests/e2e/program.h"

namespace hum::e2e {
namespace {

using testing::HasSubstr;

// clang-format off
const Case kCases[] = {
    // The parser.
    {"hum", 2, "hum needs a command", "'hum --help' lists the commands"},
    {"hum foo", 2, "hum has no command 'foo'", "the commands are generate, arrange, notes"},
    {"hum foo --help", 2, "hum has no command 'foo'", "the commands are"},
    {"hum genrate a.wav", 2, "hum has no command 'genrate'", "did you mean 'hum generate'?"},
    {"hum ntoes a.wav -o a.mid", 2, "hum has no command 'ntoes'", "did you mean 'hum notes'?"},
    {"hum check tiny", 2, "hum has no command 'check'", "did you mean 'hum model check'?"},
    {"hum model", 2, "hum model needs a command", "hum model check, or hum model run"},
    {"hum model chek tiny", 2, "hum model has no command 'chek'", "did you mean 'hum model check'?"},
    {"hum plan foo", 2, "hum plan has no command 'foo'", "the commands are memory, compare"},
    {"hum paln notes a.wav", 2, "hum has no command 'paln'", "did you mean 'hum plan'?"},
    {"hum help", 0, "Commands:", "hum generate examples/vocadito_10.wav"},
    {"hum help generate", 0, "Usage: hum generate INPUTS... [FLAGS]", "--preset PRESET"},
    {"hum help model check", 0, "Usage: hum model check NAME [FLAGS]", "Example:"},
    {"hum help fly", 2, "hum has no command 'fly'", "the commands are"},
    {"hum help generate twice", 2, "hum generate has no command 'twice'", "'hum generate --help'"},
    {"hum -V", 0, "hum 0.", "\n"},
    {"hum --version", 0, "hum 0.", "\n"},
    {"hum generate --foo", 2, "hum generate has no flag --foo", "'hum generate --help' lists its flags"},
    {"hum generate a.wav --presets violin", 2, "hum generate has no flag --presets", "did you mean --preset?"},
    {"hum generate a.wav --no-melodai", 2, "hum generate has no flag --no-melodai", "did you mean --no-melodia?"},
    {"hum notes a.wav --outptu=a.mid", 2, "hum notes has no flag --outptu", "did you mean --output?"},
    {"hum notes -x a.wav", 2, "hum notes has no flag -x", "'hum notes --help'"},
    {"hum profile --tarce a.json notes a.wav", 2, "hum profile has no flag --tarce", "hum profile --help"},
    {"hum --devcie cpu notes a.wav", 2, "hum has no flag --devcie", "did you mean --device?"},
    {"hum generate", 2, "hum generate needs INPUTS (recordings", "for example: hum generate examples"},
    {"hum generate --timbre b.wav a.wav -o out.wav", 2, "hum generate needs INPUTS", "--timbre takes all words up to the next flag; write INPUTS before it"},
    {"hum notes", 2, "hum notes needs INPUT (a recording", "for example: hum notes examples"},
    {"hum notes a.wav b.wav", 2, "hum notes takes no further argument: 'b.wav'", "usage: hum notes INPUT [FLAGS]"},
    {"hum notes a.wav -o", 2, "--output needs a value", "--output TEXT: file to write"},
    {"hum generate a.wav --preset flute -o --midi x.mid", 2, "--output needs a value, but --midi follows", "--output TEXT: sound to write"},
    {"hum generate a.wav --preset -o x.wav", 2, "--preset needs a value, but -o follows", "--preset PRESET"},
    {"hum generate a.wav --preset flute -o --mdi x.mid", 2, "--output needs a value, but --mdi follows", "--output TEXT: sound to write"},
    {"hum generate a.wav --timbre --midi=x.mid -o x.wav", 2, "--timbre needs a value, but --midi=x.mid follows", "--timbre TEXT"},
    {"hum generate a.wav --rate --midi x.mid", 2, "--rate needs a value, but --midi follows", "--rate N: sample rate"},
    {"hum notes -o --json", 2, "--output needs a value, but --json follows", "--output TEXT: file to write"},
    {"hum generate a.wav --rate fast", 2, "--rate: 'fast' is not a whole number", "--rate N: sample rate"},
    {"hum generate a.wav --seed 9223372036854775808", 2, "--seed: '9223372036854775808' is too large", "--seed N"},
    {"hum generate a.wav --seed -99999999999999999999", 2, "--seed: '-99999999999999999999' is too small", "--seed N"},
    {"hum generate a.wav --preset flute -o b.wav --beats 3", 2, "--beats needs --loop", "add --loop"},
    {"hum generate a.wav --preset flute -o b.wav --grid 1/8", 2, "--grid needs --snap", "add --snap 1"},
    {"hum notes a.wav --grid 1/8 --snap 0", 2, "--grid needs --snap", "add --snap 1"},
    {"hum remix a.wav --preset flute -o b.wav --grid 1/8", 2, "--grid needs --snap", "add --snap 1"},
    {"hum generate a.wav --preset flute --stream --format flac", 2, "--stream writes wav", "| aplay"},
    {"hum generate a.wav --strength high", 2, "--strength: 'high' is not a number", "--strength NUMBER"},
    {"hum generate a.wav --rate 22050 --rate 44100", 2, "--rate is given 2 times", "give it once"},
    {"hum generate a.wav --decoder giuded", 2, "--decoder: 'giuded' is not one of guided, plain", "did you mean 'guided'?"},
    {"hum generate a.wav --preset flute --preset", 2, "--preset is given 2 times, the second time without a value", "give it once"},
    {"hum generate a.wav --json=3", 2, "--json takes no value", "write --json alone"},
    {"hum generate a.wav --lm --no-lm", 2, "--lm and --no-lm are both given", "leave one of them out"},
    {"hum generate a.wav --preset flute -o b.wav --takes 2", 2, "several takes need --lm", "add --lm, or omit --takes"},
    {"hum generate a.wav --preset flute -o b.wav --lm --greedy --takes 2", 2, "all takes are the same but for noise", "omit that flag, or omit --takes"},
    {"hum generate a.wav --preset flute -o b.wav --lm --takes 2 --seed 9223372036854775807", 2, "leaves no seeds for 2 takes", "use a smaller --seed"},
    {"hum generate a.wav --preset flute -o b.wav --top-k 3", 2, "need --lm", "add --lm"},
    {"hum arrange a.wav --preset flute -o band --strength 0.2", 2, "need --lm", "add --lm"},
    {"hum generate a.wav --preset flute -o b.wav --max-seconds nan", 2, "--max-seconds nan is not above 0", "--max-seconds 600"},
    {"hum notes a.wav --max-seconds -1", 2, "--max-seconds -1 is not above 0", "--max-seconds 600"},
    {"hum codec encode a.wav -o t.safetensors --max-seconds nan", 2, "--max-seconds nan is not above 0", "--max-seconds 600"},
    {"hum codec decode latin1.csv -o out.wav", 65, "latin1.csv: not a file of codec tokens", "hum codec encode"},
    {"HUM_THREADS=-3 hum compile tiny", 2, "HUM_THREADS: -3 is outside 1..", "all cores"},
    {"hum --version extra", 2, "hum --version takes no further argument: 'extra'", "hint: hum --version\n"},
    {"hum notes -dash.wav", 2, "hum notes has no flag -dash.wav", "write ./-dash.wav, or -- -dash.wav after all flags"},
    {"hum evaluate notes empty.csv empty.csv", 65, "empty.csv: is empty", "onset in s, pitch in Hz, duration in s"},
    {"hum evaluate notes true.csv empty.csv", 65, "empty.csv: is empty", "onset in s, pitch in Hz, duration in s"},
    {"hum evaluate notes true.csv true.csv --onset-tolerance nan", 2, "--onset-tolerance: nan is not a number", "mir_eval uses 50 ms"},
    {"hum evaluate stems", 2, "hum evaluate stems needs ESTIMATES", "hum evaluate stems separated stems"},
    {"hum evaluate stems nosuch nosuch", 66, "nosuch: no such folder", "SONG/STEM.wav, or STEM.wav of one song"},
    {"hum separate", 2, "hum separate needs INPUTS (songs", "hum separate song.mp3 --two-stems vocals"},
    {"hum separate nosuch.wav --vocals own --weights .", 66, "no separator", "--two-stems vocals --vocals spleeter"},
    {"hum separate a.wav --stems drums,bas", 2, "there is no stem 'bas'", "did you mean 'bass'?"},
    {"hum separate a.wav --two-stems vocal", 2, "there is no stem 'vocal'", "did you mean 'vocals'?"},
    {"hum separate a.wav --stems drums --two-stems bass", 2, "--stems and --two-stems exclude each other", "give one"},
    {"hum separate a.wav --mp3 --float32", 2, "--mp3 and --float32 exclude each other", "give one"},
    {"hum separate a.wav --clip-mode wrap", 2, "--clip-mode: 'wrap' is not one of rescale, clamp, none", "names"},
    {"hum separate a.wav --vocals owl", 2, "--vocals: 'owl' is not one of auto, own, spleeter", "did you mean 'own'?"},
    {"hum separate a.wav --filename song.wav", 2, "two stems would be named separated/song.wav", "{stem}"},
    {"hum separate a.wav -o -", 2, "stdout takes one stem of one song", "--stems vocals -o -"},
    {"hum separate a.wav -o - --json", 2, "-o - and --json both write to stdout", "leave one"},
    {"hum separate - - ", 2, "stdin can be read only once", "name a file"},
    {"hum separate a.wav --max-seconds nan", 2, "--max-seconds nan is not above 0", "21600"},
    {"hum remix", 2, "hum remix needs INPUT (a song", "hum remix song.mp3 --preset violin"},
    {"hum remix a.wav -o out.wav", 2, "neither --preset nor --timbre was given", "--preset violin"},
    {"hum remix a.wav --preset violin", 2, "no output was given", "-o out.wav"},
    {"hum remix a.wav --preset vioiln -o out.wav", 2, "vioiln", "the nearest names are violin"},
    {"hum remix a.wav --preset violin -o out.wav --stem vocal", 2, "--stem: there is no stem 'vocal'", "did you mean 'vocals'?"},
    {"hum remix a.wav --preset violin -o out.wav --stem drums", 2, "drums play no melody", "bass, vocals, lead"},
    {"hum remix a.wav --preset violin -o out.wav --gain 99", 2, "--gain 99 is outside -60..60", "--gain 3"},
    {"hum remix a.wav --preset violin -o out.txt --gain -6", 2, "'.txt' is not an output format", ".wav, .flac, .ogg, .mp3"},
    {"hum remix a.wav --preset violin -o out.txt", 2, "'.txt' is not an output format", ".wav, .flac, .ogg, .mp3"},
    {"hum remix a.wav --preset violin -o a.wav", 2, "a.wav is an input and would be overwritten", "choose another output"},
    {"hum remix a.wav --preset violin -o out.wav --max-seconds nan", 2, "--max-seconds nan is not above 0", "600"},
    {"hum remix a.wav --preset violin -o out.flac --bits float", 2, "flac cannot hold float samples", "--bits 24"},
    {"hum remix a.wav --preset violin -o - --json", 2, "-o - and --json both write to stdout", "leave one"},
    {"hum remix - --timbre - -o out.wav", 2, "stdin can be read only once", "name a file"},
    {"hum remix nosuch.wav --preset violin -o out.wav", 66, "nosuch.wav", "check the name"},
    {"hum remix . --preset violin -o out.wav", 66, ".: is a folder", "one song"},
    {"hum model run nosuch", 66, "nosuch: no such folder", "config.json"},
    {"hum model run .", 2, "hum model run needs --tokens", "--tokens 1,2,3"},
    {"hum train", 2, "hum train needs CONFIG", "hum train codec"},
    {"hum train corse", 2, "no model or configuration 'corse'", "did you mean 'coarse'?"},
    {"hum train quartz", 2, "no model or configuration 'quartz'", "use one of codec, voice"},
    {"hum train coarse.yaml", 66, "coarse.yaml: no such file", "the name of one in configs/"},
    {"hum train .", 66, ".: is a folder", "YAML file"},
    {"hum train books.yaml --run r --output o", 78, "model.quantizer.books = 0 is out of range", "use 1 to 64"},
    {"hum train width.yaml --run r --output o", 78, "model.transformer.width = 255 is out of range", "use a multiple of heads, 4"},
    {"hum train share.yaml --run r --output o", 78, "stage.token_replacement = 7 is out of range", "use 0 to 1"},
    {"hum train steps.yaml --run r --output o", 78, "1e+99 is out of range", "write a whole number"},
    {"HUM_WEIGHTS= hum data references", 2, "would replace the references of hum's own weights", "--weights"},
    {"hum train configs/codec.yaml", 66, "configs/codec.yaml: no such file", "the name of one in configs/: codec"},
    {"hum data make --config configs/data.yaml -o out", 66, "configs/data.yaml: no such file", "the name of one in configs/: data"},
    {"hum data stems --config configs/stems.yaml -o out", 66, "configs/stems.yaml: no such file", "the name of one in configs/: stems"},
    {"hum data stems --config data -o out", 78, "unknown field '", "the fields are: stems"},
    {"hum data stems --count -1 -o out", 2, "--count must not be negative", "0 makes"},
    {"hum data extract nowhere --stems", 2, "does not separate recordings", "hum separate music/"},
    {"hum data make --config dta -o out", 2, "no model or configuration 'dta'", "did you mean 'data'?"},
    {"hum --device /nosuch.so compile tiny", 69, "PJRT plugin /nosuch.so: no such file", "hint: check the path, or name a device (cpu, "},
    {"hum compile tiny --batch -1", 2, "--batch -1 is below 0", "0 takes the batch of the configuration"},
    {"hum completion tcsh", 2, "SHELL: 'tcsh' is not one of bash, zsh, fish", "names"},
    {"hum completion bash", 0, "complete -o filenames", "'hum generate --decoder')"},
    {"hum completion zsh", 0, "#compdef hum", "_hum_model_check"},
    {"hum completion fish", 0, "complete -c hum", "-l preset"},
    {"hum man", 0, ".TH HUM 1", ".SS hum model check"},
    {"hum env", 0, "HUM_PLUGIN", "Folders:"},
    {"HOME=none XDG_CACHE_HOME= HUM_CACHE= hum env", 0, "there is no home folder", "\n"},
    {"hum presets >&-", 73, "cannot write to stdout: Bad file descriptor", "stdout is closed (>&-)"},
    {"hum man >&-", 73, "cannot write to stdout: Bad file descriptor", "stdout is closed (>&-)"},
    {"hum man > /dev/full", 73, "cannot write to stdout: No space left on device", "free some disk space"},
    {"hum generate --help", 0, "--help-all", "Melody:\n"},
    {"hum generate --help-all", 0, "Flags for research:\n", "--[no-]melodia"},

    // The client of a service.
    {"hum client hum.wav --preset violin", 2, "hum client needs a place for the results", "-o violin.wav"},
    {"hum client hum.wav -o v.wav", 2, "neither --preset nor --timbre", "--preset violin"},
    {"hum client hum.wav --preset violn -o v.wav", 2, "violn", "violin"},
    {"hum client hum.wav --preset violin --task notes -o v.wav", 2, "makes no sound", "-o melody.mid"},
    {"hum client hum.wav --preset violin --lm --takes 2 -o v.wav", 2, "2 takes do not fit", "-o takes/"},
    {"hum client hum.wav --preset violin --stream --json", 2, "both write to stdout", "leave one"},
    {"hum client hum.wav --preset violin -o v.wav --server localhost:8417", 2, "is not the URL of a server", "http://"},
    {"hum client none.wav --preset violin -o v.wav", 66, "none.wav", ""},

    // Plans that cannot be are wrong usage; figures that contradict each other in a file are not.
    {"hum plan", 2, "hum plan needs --model and --cluster", "hum plan --model llama-7b"},
    {"hum plan --model llama-7b --cluster trn3:16", 2, "unknown hardware 'trn3'", "nearest are trn"},
    {"hum plan --model lama-7b --cluster trn1:16", 2, "no model 'lama-7b'", "llama-7b"},
    {"hum plan --model none.json --cluster trn1:16", 66, "none.json: no such file", "config.json"},
    {"hum plan --model llama-7b --cluster trn1.32xlarge:16 --batch 0", 2, "a batch of 0", "sequences"},
    {"hum plan --model llama-7b --cluster trn1.32xlarge:16 --seq -1", 2, "--seq -1", "longest"},
    {"hum plan --model llama-7b --cluster trn1.32xlarge:16 --tp 3", 2, "tp 3 does not divide", "nearest tp"},
    {"hum plan --model llama-7b --cluster trn1.32xlarge:16 --tokens -1", 2, "tokens = -1", "above zero"},
    {"hum plan compare --model llama-7b --tokens 1e12 p4d.24xlarge:16 --spread 2", 2, "spread = 2", "between 0 and 1"},
    {"hum plan memory nosuch", 2, "no model 'nosuch'", "coarse"},
    {"hum plan memory tiny --recompute some", 2, "--recompute: 'some' is not one of", "names"},
    {"hum plan memory llama-7b --compute f64", 2, "--compute: 'f64' is not one of", "names"},
    {"hum plan audit nothing.yaml", 65, "no figure of the plan can be checked", "docs/formats/plans.md"},
    {"hum plan audit empty.yaml", 65, "has no figure of a training plan", "a plan has"},
    {"hum plan predict unknown.csv", 65, "unknown hardware 'q100'", "nearest are"},
    {"hum plan extract --input-tb 2000 --cluster c7a.48xlarge --days 14", 0, "2.00 PB, on ", "on demand"},
    {"hum plan extract --hours 1e6 --cluster c7a.48xlarge:16 --json", 0, "sound_hours", "machines"},
    {"hum plan extract --cluster c7a.48xlarge:16", 2, "the size of the library is missing", "--input-tb"},
    {"hum plan extract --hours 1e6 --cluster c7a.24xlarge:16", 2, "unknown machine 'c7a.24xlarge'", "nearest are c7a"},

    // Text that is not UTF-8.
    {"hum train latin1.yaml", 65, "latin1.yaml:2: not UTF-8 text", "iconv -f LATIN1 -t UTF-8"},
    {"hum plan audit latin1.yaml", 65, "latin1.yaml:2: not UTF-8 text", "iconv"},
    {"hum plan audit latin1.json", 65, "latin1.json:1: not UTF-8 text", "iconv"},
    {"hum plan audit latin1.sh", 65, "latin1.sh:2: not UTF-8 text", "iconv"},
    {"hum plan predict latin1.csv", 65, "latin1.csv:2: not UTF-8 text", "iconv"},
    {"hum plan --model latin1.json --cluster trn1:16", 65, "latin1.json:1: not UTF-8 text", "iconv"},
    {"hum evaluate notes latin1.json latin1.csv", 65, "latin1.json:1: not UTF-8 text", "iconv"},
    {"hum evaluate notes latin1.csv latin1.csv", 65, "latin1.csv:2: not UTF-8 text", "iconv"},
    {"hum evaluate notes broken.json broken.json", 65, "broken.json: not valid JSON: parse error at line 1", "line and column"},
};
// clang-format on

class CliCases : public Program {
 protected:
  void write_inputs() const {
    write("latin1.yaml", "stage: {}\nmodel_type: caf\xe9\n");
    write("latin1.json", "{\"model_type\": \"caf\xe9\"}");
    write("latin1.csv", "hidden,layers\n\xe9,1\n");
    write("latin1.sh", "#!/bin/sh\nNAME=caf\xe9\n");
    write("broken.json", "{\"notes\": [");
    write("empty.yaml", "");
    write("books.yaml", "model_type: codec\nmodel: {quantizer: {books: 0}}\n");
    write("width.yaml", "model_type: coarse\nmodel: {transformer: {width: 255, heads: 4}}\n");
    write("share.yaml", "model_type: coarse\nstage: {token_replacement: 7}\n");
    write("steps.yaml", "model_type: codec\nstage: {loop: {steps: 1e99}}\n");
    write("empty.csv", "\n");
    write("true.csv", "0,220,0.5\n");
    write("-dash.wav", "");
    write("nothing.yaml", "runs: {A: {nodes: 2}}\n");
    write("unknown.csv",
          "hardware,hidden,layers,heads,tp,pp,gpus,global_batch,micro_batch,seq\n"
          "q100,2304,24,24,1,1,32,512,1,2048\n");
  }
};

TEST_F(CliCases, EveryErrorNamesTheFaultAndARemedyAndLeavesNoFile) {
  write_inputs();
  expect_cases(kCases);
}

// The commands of the program, from the completions of bash: "'hum notes') flags=...".
std::vector<std::string> commands_of(const std::string& script) {
  std::vector<std::string> commands;
  for (size_t at = 0; (at = script.find("') flags='", at)) != std::string::npos; ++at) {
    const size_t start = script.rfind('\'', at - 1) + 1;
    commands.push_back(script.substr(start, at - start));
  }
  return commands;
}

TEST_F(CliCases, HelpIsAtMostAHundredColumnsWide) {
  const auto commands = commands_of(run_shell("hum completion bash").out);
  ASSERT_GT(commands.size(), 25U);
  for (const std::string& command : commands) {
    const std::string help = run_shell(command + " --help-all").out;
    EXPECT_THAT(help, HasSubstr("Usage: " + command)) << command;
    size_t start = 0;
    for (size_t end = 0; (end = help.find('\n', start)) != std::string::npos; start = end + 1) {
      EXPECT_LE(end - start, 100U) << help.substr(start, end - start);
    }
  }
}

TEST_F(CliCases, CompletionsLoadInBash) {
  write("complete.sh",
        "source <(hum completion bash)\n"
        "COMP_WORDS=(hum generate a.wav --deco); COMP_CWORD=3; _hum; echo \"${COMPREPLY[*]}\"\n"
        "COMP_WORDS=(hum generate --decoder ''); COMP_CWORD=3; _hum; echo \"${COMPREPLY[*]}\"\n"
        "COMP_WORDS=(hum arrange --preset nylon); COMP_CWORD=3; _hum; echo \"${COMPREPLY[*]}\"\n"
        "COMP_WORDS=(hum model ''); COMP_CWORD=2; _hum; echo \"${COMPREPLY[*]}\"\n");
  const Outcome bash = run_shell("bash complete.sh", {.folder = folder_});
  EXPECT_EQ(bash.out, "--decoder\nguided plain\nnylon-guitar\ncheck run\n") << bash.err;
}

bool is_installed(const std::string& program) {
  return run_shell("command -v " + program).code == 0;
}

TEST_F(CliCases, CompletionsLoadInZsh) {
  if (!is_installed("zsh")) GTEST_SKIP() << "zsh is not installed";
  write("complete.zsh",
        "autoload -Uz compinit; compinit -u -D\n"
        "source <(hum completion zsh)\n"
        "echo $_comps[hum]; whence -w _hum _hum_model_check\n");
  const Outcome zsh = run_shell("zsh -f complete.zsh", {.folder = folder_});
  EXPECT_EQ(zsh.out, "_hum\n_hum: function\n_hum_model_check: function\n") << zsh.err;
  EXPECT_EQ(zsh.err, "");
}

TEST_F(CliCases, CompletionsLoadInFish) {
  if (!is_installed("fish")) GTEST_SKIP() << "fish is not installed";
  write("complete.fish",
        "hum completion fish | source\n"
        "for line in 'hum generate a.wav --deco' 'hum generate --decoder ' 'hum arrange --preset "
        "nylon' "
        "'hum model '\n"
        "  complete -C $line | string split -f1 \\t\n"
        "end\n");
  const Outcome fish =
      run_shell("HOME=$PWD XDG_CONFIG_HOME=$PWD XDG_DATA_HOME=$PWD fish --no-config complete.fish",
                {.folder = folder_});
  EXPECT_EQ(fish.out, "--decoder\nguided\nplain\nnylon-guitar\ncheck\nrun\n") << fish.err;
  EXPECT_EQ(fish.err, "");
}

TEST_F(CliCases, TheManualPageIsRightForItsFormatter) {
  if (!is_installed("groff")) GTEST_SKIP() << "groff is not installed";
  const Outcome run = run_shell("hum man | groff -man -Tutf8 -ww 2>&1 > /dev/null");
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.out, "");
}

// "CODE: meaning" of each row after `from`, without markup.
std::vector<std::string> rows_of(const std::string& text, const std::string& from,
                                 const std::regex& row) {
  std::vector<std::string> rows;
  const auto start = text.begin() + static_cast<int64_t>(text.find(from));
  for (std::sregex_iterator at(start, text.end(), row), end; at != end; ++at) {
    rows.push_back(
        std::regex_replace((*at)[1].str() + ": " + (*at)[2].str(), std::regex("[`\\\\]"), ""));
  }
  return rows;
}

TEST_F(CliCases, TheManualPageGivesTheExitCodesOfTheDocs) {
  const auto docs = rows_of(read_file(source_folder() / "docs/cli/README.md"), "## Exit codes",
                            std::regex(R"(\| (\d+) \| (.*) \|)"));
  const auto man =
      rows_of(run_shell("hum man").out, ".SH EXIT STATUS", std::regex(R"(\.B (\d+)\n(.*)\n)"));
  EXPECT_EQ(docs.size(), 13U);
  EXPECT_EQ(man, docs);
}

TEST_F(CliCases, NothingIsCreatedInAHomeThatDoesNotExist) {
  write_hum("a.wav");
  const Outcome run = run_shell(
      "HOME=$PWD/home XDG_CACHE_HOME= HUM_CACHE= hum notes a.wav -o a.mid", {.folder = folder_});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("set HUM_CACHE"));
  EXPECT_EQ(files(), (std::vector<std::string>{"a.mid", "a.wav"}));
}

TEST_F(CliCases, ACacheThatCannotBeWrittenIsAWarningThatNamesItsVariable) {
  write_hum("a.wav");
  for (const char* cache : {"HOME=/proc XDG_CACHE_HOME= HUM_CACHE=", "HUM_CACHE=/dev/hum"}) {
    const Outcome run =
        run_shell(cache + std::string(" hum notes a.wav -o a.mid"), {.folder = folder_});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_THAT(run.err, HasSubstr("hint: set HUM_CACHE to a folder that you can write to"));
  }
}

}  // namespace
}  // namespace hum::e2e
