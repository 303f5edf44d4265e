# SPDX-License-Identifier: Apache-2.0
"""The look of the report."""

from __future__ import annotations

STYLE = """\
:root { color-scheme: light dark; --ink: #2b2b2b; --faint: #5a5a5a; --line: #dcdcdc; --paper: #fff;
  --link: #00558a; --warn: #fdf1ea; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e6; --faint: #b0b0b0; --line: #44484d; --paper: #16191c;
    --link: #7cc4f5; --warn: #3a2a20; }
}
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  overflow-wrap: break-word; }
main { max-width: 78em; margin: 0 auto; padding: 1em 2.5% 4em; }
p, dl, nav { max-width: 68em; }
h1 { font-size: 1.7em; line-height: 1.25; }
h2 { font-size: 1.35em; line-height: 1.3; margin: 2.4em 0 0.4em; }
h3 { font-size: 1.1em; margin: 2.2em 0 0.4em; }
nav h2 { font-size: 1.1em; margin-top: 1.6em; }
nav ul { padding-left: 1.2em; }
nav ol { list-style: none; padding: 0; columns: 20em; font-size: 0.92em; }
a { color: var(--link); }
section { border-top: 3px solid var(--line); margin-top: 3em; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.2em 1.2em; }
dt { color: var(--faint); }
dd { margin: 0; min-width: 0; }
.differs { border-left: 4px solid var(--link); padding-left: 0.8em; }
.warning { border-left: 4px solid #d55e00; background: var(--warn); padding: 0.5em 0.8em; }
.note { color: var(--faint); font-size: 0.9em; margin: 0.3em 0 1.4em; max-width: 52em; }
/* Where more lies to a side there is a shadow; the first two layers move with the table and cover it. */
.sideways { overflow-x: auto; margin: 0.8em 0 0.3em;
  background: linear-gradient(to right, var(--paper) 30%, transparent) left / 3em 100% local,
    linear-gradient(to left, var(--paper) 30%, transparent) right / 3em 100% local,
    radial-gradient(farthest-side at 0 50%, #8886, transparent) left / 1em 100% scroll,
    radial-gradient(farthest-side at 100% 50%, #8886, transparent) right / 1em 100% scroll;
  background-repeat: no-repeat; }
.sideways:focus-visible, a:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
table { border-collapse: collapse; font-size: 0.9em; }
caption { text-align: left; font-weight: 600; padding-bottom: 0.4em; }
th, td { text-align: left; vertical-align: top; padding: 0.3em 0.9em 0.3em 0.4em;
  border-bottom: 1px solid var(--line); }
thead th, thead td { vertical-align: bottom; font-weight: 600; border-bottom: 2px solid var(--faint); }
tbody th { font-weight: normal; position: sticky; left: 0; background: var(--paper); }
.words { min-width: 12em; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
thead .number { white-space: normal; min-width: 4em; }
figure { margin: 1em 0 1.4em; }
/* In a narrow window a picture is moved sideways rather than made too small to read. */
figure .sideways { background: #fff; border: 1px solid var(--line); border-radius: 4px;
  width: fit-content; max-width: 100%; }
figure svg { display: block; }
/* Words were given room as Arial needs it; a wider font is made smaller. */
figure svg text { font-family: Arial, Helvetica, "Liberation Sans", sans-serif; font-size-adjust: 0.5; }
@media (max-width: 44em) {
  body { font-size: 15px; }
  main { padding: 0.5em 1em 3em; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: 0.5em; }
  tbody th { max-width: 9em; hyphens: auto; }
  /* Of sentences beside each other one would see the first: each cell gets a line with its head. */
  .stacked thead { display: none; }
  .stacked, .stacked tbody, .stacked caption, .stacked tr, .stacked th, .stacked td { display: block;
    max-width: none; }
  .stacked tr { border-bottom: 1px solid var(--line); padding: 0.4em 0; }
  .stacked th, .stacked td { border: 0; padding: 0.1em 0; position: static; text-align: left;
    white-space: normal; }
  .stacked th { font-weight: 600; }
  .stacked td::before { content: attr(data-head) ": "; color: var(--faint); }
}
@page { size: landscape; margin: 12mm; } /* the widest table has a dozen columns */
@media print {
  :root { --ink: #000; --faint: #333; --line: #bbb; --paper: #fff; --link: #000;
    --warn: #fff; }
  main { max-width: none; padding: 0; }
  nav { break-after: page; }
  table { font-size: 0.65em; }
  th, td { padding: 0.2em 0.5em 0.2em 0.3em; }
  .number { white-space: normal; }
  tbody th { position: static; }
  tr, figure { break-inside: avoid; }
  h2, h3, caption { break-after: avoid; }
  .sideways { overflow: visible; }
  figure svg { max-width: 100%; height: auto; }
}
"""
