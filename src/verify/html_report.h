#pragma once

#include <string>
#include <string_view>

#include "verify/report.h"

namespace sampan::verify {

/// The report as one page that stands alone: no script, no font, no picture from elsewhere; plots
/// are drawn in the page, which reads on wide and narrow screens, in light and dark, and on paper.
/// `subject` is what was verified, for the heading. The same arguments give the same bytes.
std::string format_html(const Report& report, std::string_view subject);

}  // namespace sampan::verify
