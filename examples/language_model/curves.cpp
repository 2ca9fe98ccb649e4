#include "curves.hpp"

#include "evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <sstream>

namespace lm {
namespace {
constexpr char const* header = "step,loss,rate,gradient_norm,validation_loss";
}

std::string curve_csv(std::vector<Record> const& records) {
    std::string text = std::string(header) + "\n";
    for (auto const& r : records)
        text += fmt::format("{},{},{},{},{}\n", r.step + 1, r.loss, r.rate, r.norm,
                            std::isfinite(r.validation) ? fmt::format("{}", r.validation) : "");
    return text;
}

std::vector<Record> curve_of_csv(std::string const& text, std::string const& path) {
    std::istringstream lines(text);
    std::string line;
    if (!std::getline(lines, line) || line != header)
        throw Refusal(fmt::format("{} is no loss curve: its first line is not {}", path, header));
    std::vector<Record> records;
    while (std::getline(lines, line)) {
        Record r{0, 0, 0, 0, std::numeric_limits<double>::quiet_NaN()};
        int used = 0;
        if (std::sscanf(line.c_str(), "%d,%lf,%lf,%lf,%n", &r.step, &r.loss, &r.rate, &r.norm, &used) != 4 || !used)
            throw Refusal(fmt::format("{}: no line of a loss curve: {}", path, line));
        if (std::size_t(used) < line.size()) r.validation = std::strtod(line.c_str() + used, nullptr);
        --r.step;
        records.push_back(r);
    }
    return records;
}

std::string curves_svg(Curves const& curves, std::string const& title) {
    constexpr int width = 720, height = 400, left = 60, right = 130, top = 34, bottom = 44;
    constexpr char const* colours[] = {"#1b6ca8", "#c8553d", "#4f772d", "#7b2d8b", "#b8860b", "#444444"};
    int last = 1;
    double low = std::numeric_limits<double>::infinity(), high = 0;
    for (auto const& [name, records] : curves)
        for (std::size_t i = 0; i < records.size(); ++i) {
            last = std::max(last, records[i].step + 1);
            low = std::min(
                {low, bits(records[i].loss), std::isfinite(records[i].validation) ? bits(records[i].validation) : low});
            if (i >= records.size() / 20) high = std::max(high, bits(records[i].loss)); // the first fall is not shown
        }
    if (!(low < high)) low = 0, high = std::max(high, 1.0);
    low = std::floor(low * 10) / 10, high = std::ceil(high * 10) / 10;
    auto const x = [&](double step) { return left + (width - left - right) * step / last; };
    auto const y = [&](double loss) {
        return top + (height - top - bottom) * (1 - std::clamp((bits(loss) - low) / (high - low), 0.0, 1.0));
    };
    std::string svg = fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-"
                                  "serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
                                  "<text x=\"{}\" y=\"20\" font-size=\"14\">{}</text>\n",
                                  width, height, left, title);
    for (int i = 0; i <= 5; ++i) {
        double const value = low + (high - low) * i / 5, at = y(value * std::log(2.0)), step = double(last) * i / 5;
        svg += fmt::format("<path d=\"M{} {:.1f}H{}\" stroke=\"#ddd\"/><text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">"
                           "{:.2f}</text><text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:.0f}</text>\n",
                           left, at, width - right, left - 6, at + 4, value, x(step), height - bottom + 18, step);
    }
    svg += fmt::format("<text x=\"{}\" y=\"{}\">bits a byte</text><text x=\"{}\" y=\"{}\" text-anchor=\"middle\">step"
                       "</text>\n",
                       width - right + 12, height - bottom, (width + left - right) / 2, height - 8);
    std::vector<std::string> names;
    for (auto const& [name, records] : curves) {
        auto const known = std::find(names.begin(), names.end(), name);
        std::size_t const index = std::size_t(known - names.begin());
        char const* const colour = colours[index % std::size(colours)];
        if (known == names.end()) {
            names.push_back(name);
            svg += fmt::format("<text x=\"{}\" y=\"{}\" fill=\"{}\">{}</text>\n", width - right + 12,
                               top + 14 + 18 * index, colour, name);
        }
        std::string training, validation, dots;
        double smooth = 0, weight = 0;
        std::size_t const stride = std::max<std::size_t>(1, records.size() / 300);
        for (std::size_t i = 0; i < records.size(); ++i) {
            auto const& r = records[i];
            smooth = 0.95 * smooth + 0.05 * r.loss, weight = 0.95 * weight + 0.05;
            if (i % stride == 0)
                training +=
                    fmt::format("{}{:.1f} {:.1f}", training.empty() ? "M" : "L", x(r.step + 1), y(smooth / weight));
            if (!std::isfinite(r.validation)) continue;
            validation +=
                fmt::format("{}{:.1f} {:.1f}", validation.empty() ? "M" : "L", x(r.step + 1), y(r.validation));
            dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"{}\"/>", x(r.step + 1),
                                y(r.validation), colour);
        }
        if (!training.empty())
            svg += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" opacity=\"0.35\"/>\n", training, colour);
        if (!validation.empty())
            svg += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"/>{}\n", validation,
                               colour, dots);
    }
    return svg + "</svg>\n";
}

} // namespace lm
