#pragma once

#include <string_view>

namespace sampan::verify {

/// The style sheet of a report's page.
inline constexpr std::string_view kHtmlStyle = R"css(
:root { color-scheme: light dark; --page: #f6f7f9; --card: #ffffff; --ink: #1c2530; --faint: #5c6875;
  --line: #dde2e8; --good: #1f7a4d; --bad: #b3262e; --open: #8a6100; --accent: #3b7dd8; }
@media (prefers-color-scheme: dark) { :root { --page: #14181d; --card: #1c2229; --ink: #e4e9ef;
  --faint: #9aa7b5; --line: #313a45; --good: #5cc793; --bad: #ff7b7b; --open: #e0b34d; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans CJK SC", sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 28px 20px 48px; }
h1 { font-size: 15px; font-weight: 600; color: var(--faint); margin: 0 0 6px; overflow-wrap: anywhere; }
h2 { font-size: 19px; margin: 36px 0 12px; }
p { margin: 0 0 12px; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 18px 20px; }
.verdict { border-left: 8px solid var(--tone); }
.verdict strong { display: block; font-size: 30px; line-height: 1.2; color: var(--tone); }
.passed { --tone: var(--good); } .problems { --tone: var(--bad); } .not_checked { --tone: var(--open); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 18px; margin: 14px 0 0; }
dt { color: var(--faint); } dd { margin: 0; overflow-wrap: anywhere; }
code, .number { font-family: ui-monospace, "SFMono-Regular", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: 0.88em; }
code { overflow-wrap: anywhere; } td code { overflow-wrap: break-word; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr)); gap: 16px;
  align-items: start; }
.plots > .card { min-width: 0; }
svg { display: block; width: 100%; max-width: 560px; height: auto; margin: 0 auto; }
table { width: 100%; border-collapse: collapse; }
th { text-align: left; font-size: 13px; font-weight: 600; color: var(--faint); }
th, td { padding: 7px 14px 7px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
tr:last-child td { border-bottom: 0; }
td.number, th.number { text-align: right; white-space: nowrap; }
td.detail { color: var(--faint); overflow-wrap: anywhere; }
.badge { display: inline-block; padding: 0 9px; border-radius: 10px; font-size: 13px; font-weight: 600;
  color: var(--tone); border: 1px solid var(--tone); white-space: nowrap; }
.finding { border-left: 4px solid var(--bad); margin-bottom: 10px; }
.finding p:last-child, .card p:last-child { margin-bottom: 0; }
.faint { color: var(--faint); }
details { margin-top: 14px; } summary { cursor: pointer; color: var(--accent); }
.texts { margin-top: 8px; } .texts dd.differs { font-weight: 600; }
footer { margin-top: 40px; font-size: 13px; color: var(--faint); }
@media (max-width: 640px) {
  main { padding: 16px 12px 32px; } .card { padding: 14px; } .verdict strong { font-size: 25px; }
  dl { grid-template-columns: 1fr; } dd { margin-bottom: 6px; }
  table.checks thead { display: none; } table.checks, table.checks tbody { display: block; }
  table.checks tr { display: flex; flex-wrap: wrap; gap: 2px 10px; align-items: baseline; padding: 9px 0;
    border-bottom: 1px solid var(--line); }
  table.checks tr:last-child { border-bottom: 0; }
  table.checks td { display: block; padding: 0; border: 0; text-align: left; }
  table.checks td:empty { display: none; } table.checks td.detail { flex-basis: 100%; }
  table.checks td.limit::before { content: "limit "; }
  table.spread th, table.spread td { padding-right: 8px; }
}
@media print { body { background: none; } .card { break-inside: avoid; } }
)css";

}  // namespace sampan::verify
