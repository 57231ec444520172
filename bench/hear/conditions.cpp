#include "bench/hear/conditions.h"

#include "base/error.h"
#include "base/fields_json.h"
#include "base/folders.h"

namespace hum::bench::hear {
namespace {

constexpr double kSmokeSeconds = 3;

struct ConditionFields {
  std::string name, second_voice = "clean";
  double least_f1 = 0;
  data::Singer singer;
  data::Conditions sound;

  template <class V>
  void visit_fields(V& v) {
    v("name", name, "of the condition");
    v("least_f1", least_f1, "limit of the first voice");
    v("second_voice", second_voice, "the second voice's condition");
    v("singer", singer, "what is fixed of the singer; the rest is drawn");
    v("sound", sound, "what lies between voice and recording");
  }
};

Condition condition_of(const Json& json, double seconds) {
  ConditionFields fields;
  from_json(json, fields);
  Condition condition{.name = fields.name,
                      .least_f1 = fields.least_f1,
                      .second_voice = fields.second_voice,
                      .singer = {.seconds = seconds, .silent_share = 0},
                      .sound = fields.sound};
  const Json fixed = json.value("singer", Json::object());
  if (fixed.contains("kind")) condition.singer.kind = fields.singer.kind;
  condition.singer.adjust = [fixed](data::Singer& singer) { from_json(fixed, singer); };
  return condition;
}

}  // namespace

ConditionSet read_conditions(const Scale& scale) {
  const Json json = read_json(source_folder() / "bench/hear/conditions.json");
  ConditionSet set{.hums = json.at("hums"), .seed = json.at("seed"), .seconds = json.at("seconds")};
  if (scale.smoke) {
    set.hums = 1;
    set.seconds = kSmokeSeconds;
  }
  for (const Json& condition : json.at("conditions")) {
    const ErrorContext context([&] { return "reading condition " + to_text(condition); });
    set.conditions.push_back(condition_of(condition, set.seconds));
  }
  if (scale.smoke) {
    std::erase_if(set.conditions, [](const Condition& condition) {
      return condition.name != "clean" && condition.sound.babble_db == data::Conditions::kAbsent;
    });
  }
  return set;
}

}  // namespace hum::bench::hear
