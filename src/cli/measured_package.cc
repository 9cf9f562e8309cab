#include "cli/measured_package.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "evaluate/machine.h"
#include "evaluate/timed_translation.h"

namespace sampan::cli {
namespace {

using Json = nlohmann::json;

// A damaged package may give a text that is not UTF-8.
std::string dump(const Json& answer) {
  return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
}

TranslateOptions options_for(const Measurement& measurement, const Translator& translator) {
  TranslateOptions options = measurement.flags.options(translator);
  if (!measurement.forced_length) return options;
  options.split_sentences = false;
  options.length_guard = false;
  options.generation.max_new_tokens = measurement.forced_length;
  options.generation.min_new_tokens = measurement.forced_length;
  return options;
}

Json profile_json(const evaluate::RuntimeProfile& profile) {
  Json operators = Json::array();
  for (const auto& [name, share] : profile.operators)
    operators.push_back({name, share.calls, share.seconds});
  Json nodes = Json::array();
  for (const auto& [node, share] : profile.nodes)
    nodes.push_back({node.first, node.second, share.calls, share.seconds});
  return {{"run_seconds", profile.run_seconds},
          {"cut_short", profile.cut_short},
          {"operators", operators},
          {"nodes", nodes}};
}

evaluate::RuntimeProfile profile_of(const Json& json) {
  evaluate::RuntimeProfile profile;
  profile.run_seconds = json.at("run_seconds");
  profile.cut_short = json.at("cut_short");
  for (const Json& row : json.at("operators"))
    profile.operators[row.at(0)] = {row.at(1), row.at(2)};
  for (const Json& row : json.at("nodes"))
    profile.nodes[{row.at(0), row.at(1)}] = {row.at(2), row.at(3)};
  return profile;
}

// The side of the process that has the package.
class Work {
 public:
  Work(std::filesystem::path folder, std::shared_ptr<const Measurement> measurement)
      : folder_(std::move(folder)), measurement_(std::move(measurement)) {}

  std::string operator()(std::string_view request) {
    const Json asked = Json::parse(request);
    const std::string what = asked.at("do");
    if (what == "load") return dump(load());
    if (what == "translations") return dump(translations());
    const std::size_t most = asked.at("most");
    if (what == "profile") return dump(profile(most, asked.at("traces").get<std::string>()));
    return dump(what == "latencies" ? latencies(most) : translate(most));
  }

 private:
  Json load() {
    const std::size_t idle = evaluate::process_memory().resident_bytes;
    evaluate::TimedLoad load =
        evaluate::load_timed(folder_, measurement_->flags.load_options(/*workers=*/1));
    translator_ = std::make_unique<Translator>(std::move(load.translator));
    options_ = options_for(*measurement_, *translator_);
    return {{"seconds", load.seconds},
            {"idle_bytes", idle},
            {"num_beams", options_.generation.num_beams},
            {"batch_size", options_.batch_size}};
  }

  Json translate(std::size_t most) {
    pass_ = evaluate::translate_timed(*translator_,
                                      evaluate::spread_evenly(measurement_->lines, most), options_);
    return {{"seconds", pass_.seconds},
            {"tokens", pass_.tokens()},
            {"peak_bytes", evaluate::process_memory().peak_bytes}};
  }

  Json translations() const {
    Json answer = Json::array();
    for (const Translation& translation : pass_.translations)
      answer.push_back({{"text", translation.text},
                        {"tokens", translation.tokens},
                        {"repeats", translation.repeats},
                        {"truncated", translation.truncated}});
    return answer;
  }

  Json latencies(std::size_t most) const {
    return evaluate::line_latencies(*translator_, measurement_->lines, options_, most);
  }

  Json profile(std::size_t most, const std::filesystem::path& traces) const {
    LoadOptions load = measurement_->flags.load_options(/*workers=*/1);
    load.profile_folder = traces;
    Json answer;
    {
      const Translator translator = Translator::load(folder_, load);
      const evaluate::Pass pass =
          evaluate::translate_timed(translator, evaluate::spread_evenly(measurement_->lines, most),
                                    options_for(*measurement_, translator));
      answer = {{"seconds", pass.seconds}, {"tokens", pass.tokens()}};
    }  // the traces are whole now
    answer["runtime"] = profile_json(evaluate::read_profile(traces));
    return answer;
  }

  std::filesystem::path folder_;
  std::shared_ptr<const Measurement> measurement_;
  std::unique_ptr<const Translator> translator_;
  TranslateOptions options_;
  evaluate::Pass pass_;
};

}  // namespace

MeasuredPackage::MeasuredPackage(std::filesystem::path folder,
                                 std::shared_ptr<const Measurement> measurement)
    : folder_(std::move(folder)),
      worker_(folder_.string(), [work = std::make_shared<Work>(folder_, std::move(measurement))](
                                    std::string_view request) { return (*work)(request); }) {}

LoadFigures MeasuredPackage::load(const Interrupt& interrupt) {
  const Json answer = Json::parse(worker_.ask(dump({{"do", "load"}}), interrupt));
  return {answer.at("seconds"), answer.at("idle_bytes"), answer.at("num_beams"),
          answer.at("batch_size")};
}

PassFigures MeasuredPackage::translate(std::size_t most_lines, const Interrupt& interrupt) {
  const Json answer =
      Json::parse(worker_.ask(dump({{"do", "translate"}, {"most", most_lines}}), interrupt));
  return {answer.at("seconds"), answer.at("tokens"), answer.at("peak_bytes")};
}

std::vector<Translation> MeasuredPackage::translations(const Interrupt& interrupt) {
  std::vector<Translation> translations;
  for (const Json& line : Json::parse(worker_.ask(dump({{"do", "translations"}}), interrupt))) {
    Translation& translation = translations.emplace_back();
    translation.text = line.at("text");
    translation.tokens = line.at("tokens").get<std::vector<std::int64_t>>();
    translation.repeats = line.at("repeats");
    translation.truncated = line.at("truncated");
  }
  return translations;
}

std::vector<double> MeasuredPackage::latencies(std::size_t most_lines, const Interrupt& interrupt) {
  return Json::parse(worker_.ask(dump({{"do", "latencies"}, {"most", most_lines}}), interrupt));
}

ProfileFigures MeasuredPackage::profile(std::size_t most_lines, const std::filesystem::path& traces,
                                        const Interrupt& interrupt) {
  const Json request = {{"do", "profile"}, {"most", most_lines}, {"traces", traces.string()}};
  const Json answer = Json::parse(worker_.ask(dump(request), interrupt));
  return {answer.at("seconds"), answer.at("tokens"), profile_of(answer.at("runtime"))};
}

std::vector<std::string> display_names(const std::vector<std::filesystem::path>& folders) {
  std::vector<std::string> names;
  for (const std::filesystem::path& folder : folders) {
    std::filesystem::path whole = std::filesystem::absolute(folder).lexically_normal();
    if (!whole.has_filename()) whole = whole.parent_path();
    names.push_back(whole.filename().string());
  }
  if (std::set(names.begin(), names.end()).size() == names.size()) return names;
  std::ranges::transform(folders, names.begin(),
                         [](const std::filesystem::path& folder) { return folder.string(); });
  return names;
}

}  // namespace sampan::cli
