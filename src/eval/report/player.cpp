#include "eval/report/player.h"

#include <fmt/format.h>

#include "base/json.h"
#include "eval/listening/mushra.h"
#include "eval/report/plots.h"

namespace hum::eval {
namespace {

constexpr size_t kKeys = 9;  // 1 to 9

constexpr const char* kTransport =
    "<div class=transport hidden><button type=button class=play aria-label=Play></button>"
    "<input type=range class=position aria-label=Position min=0 max=1 step=0.01 value=0>"
    "<span class=clock></span></div><p class=fault role=alert></p>";

std::string text_of(const Json& value) { return escaped(value.get<std::string>()); }

// A radio button of the row. site/player.js plays its sound and shows its picture.
std::string choice(const Json& example, const Json& sound, size_t clip, size_t number) {
  const std::string key =
      number < kKeys ? fmt::format("<kbd aria-hidden=true>{}</kbd>", number + 1) : std::string();
  return fmt::format(
      "<span class=choice><input type=radio name=clip-{0} id=clip-{0}-{1} data-sound=\"{2}\" "
      "data-gain=\"{3:.2f}\" data-picture=\"{4}\"{5}><label for=clip-{0}-{1}>{6}{7}</label></span>",
      clip, number, text_of(sound["sound"]), matching_gain_db(example, sound),
      text_of(sound["picture"]), number == 0 ? " checked" : "", key, text_of(sound["system"]));
}

std::string player(const Json& example, size_t clip) {
  std::string choices, links;
  for (size_t number = 0; number < example["sounds"].size(); ++number) {
    const Json& sound = example["sounds"][number];
    choices += choice(example, sound, clip, number);
    links += fmt::format("<li><a href=\"{}\">{}</a></li>", text_of(sound["sound"]),
                         text_of(sound["system"]));
  }
  return fmt::format(
      "<section class=\"clip card\" aria-labelledby=clip-{0}><h3 id=clip-{0}>{1}</h3>{2}"
      "<fieldset class=choices><legend class=visually-hidden>Sounds of {1}</legend>{3}</fieldset>"
      "<img class=picture src=\"{4}\" alt=\"Spectrogram and notes\" loading=lazy>"
      "<details><summary>Sound files</summary><ul class=files>{5}</ul></details></section>",
      clip, text_of(example["title"]), kTransport, choices,
      text_of(example["sounds"][0]["picture"]), links);
}

}  // namespace

std::string players(const Json& examples) {
  std::string html;
  for (size_t clip = 0; clip < examples.size(); ++clip) html += player(examples[clip], clip);
  if (html.empty()) return {};
  return "<link rel=stylesheet href=\"page/player.css\">" + html +
         "<script src=\"page/sounds.js\"></script><script src=\"page/player.js\"></script>";
}

}  // namespace hum::eval
