"""The tables of docs/measurements.md from a file that `warpwright-bench --csv` wrote: python3 bench/tables.py results.csv

Figures are GB/s or GFLOP/s of the median run; in brackets the twin's time over ours.

Of a file that `warpwright-bench --applications --csv` wrote, the timed tables of docs/documents/ryoo.md, which are written into the page: python3 bench/tables.py suite.csv
"""

import csv
import math
import pathlib
import sys

COPIES = ["plain", "ilp 4", "ilp 4 batched", "ilp 8 batched", "vectors", "vectors ilp 4 batched"]


def figure(row):
    return f"{float(row['ours']):.0f} ({float(row['ratio']):.3f})"


def copies(rows):
    for shared in ("0", None):
        taken = [row for row in rows if (row["shared_bytes"] == "0") == (shared == "0") and row["variant"] in COPIES]
        print("\n" + ("Shared memory free:" if shared == "0" else "0.9 of the shared memory taken:") + "\n")
        print("| threads | " + " | ".join(COPIES) + " |")
        print("|---" * (len(COPIES) + 1) + "|")
        for threads in sorted({int(row["threads"]) for row in taken}):
            cells = {row["variant"]: figure(row) for row in taken if int(row["threads"]) == threads}
            print(f"| {threads} | " + " | ".join(cells.get(variant, "") for variant in COPIES) + " |")


def others(family, rows):
    unit = rows[0]["unit"]
    print(f"\n| {family} | threads | ours, {unit} | CUDA C++, {unit} | ratio |\n|---|---|---|---|---|")
    for row in rows:
        print(f"| {row['variant']} | {row['threads']} | {float(row['ours']):.0f} | {float(row['twin']):.0f} | {float(row['ratio']):.3f} |")


PAGE = pathlib.Path(__file__).parent.parent / "docs/documents/ryoo.md"


def least(rows, column):
    """The row with the least time of a column, if it has any."""
    return min((row for row in rows if row[column]), key=lambda row: float(row[column]), default=None)


def ms(row, column):
    return f"{float(row[column]) / 1e3:.3f}" if row and row[column] else ""


def factor(row, column):
    """How many times one core; with a star where the core's time is scaled from a part of the work."""
    star = "*" if row and float(row["core_share_timed"] or 1) < 1 else ""
    return f"{float(row[column]):.0f}×{star}" if row and row[column] else ""


def table(lines):
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def suite(programs):
    heads = ["application", "input", "document", "ours", "CUDA C++", "ours, ms", "CUDA C++, ms", "ratio", "fastest variant"]
    lines, ratios = [heads, ["---"] * len(heads)], {}
    for name, rows in programs.items():
        ours, theirs = least(rows, "ours_median_us"), least(rows, "twin_median_us")
        ratio = float(theirs["twin_median_us"]) / float(ours["ours_median_us"]) if theirs else None
        lines.append([
            name, ours["input"], f"{float(ours['document_speed_up']):g}×", factor(ours, "speed_up"), factor(theirs, "twin_speed_up"),
            ms(ours, "ours_median_us"), ms(theirs, "twin_median_us"), f"{ratio:.3f}" if ratio else "", ours["variant"],
        ])
        if ratio:
            ratios[name] = ratio
    mean = math.prod(ratios.values()) ** (1 / len(ratios)) if ratios else float("nan")
    behind = ", ".join(f"{name} {ratio:.3f}" for name, ratio in ratios.items() if ratio < 0.95)
    said = f"Geometric mean of the {len(ratios)} ratios: {mean:.3f}; below 0.95: {behind or 'none'}."
    return table(lines) + "\n" + said + "\n"


def variants(rows):
    lines = [["timed on an H200", "ours, ms", "CUDA C++, ms", "of the device's limit", "times one core"], ["---"] * 5]
    for row in rows:
        limit = f"{100 * float(row['share_of_limit']):.0f} % of {row['limit']}" if row["share_of_limit"] else ""
        lines.append([row["variant"], ms(row, "ours_median_us"), ms(row, "twin_median_us"), limit, factor(row, "speed_up")])
    return table(lines)


def applications(rows):
    """Writes the timed tables between their marks."""
    programs = {}
    for row in rows:
        if not row["check"].startswith("FAILED"):
            programs.setdefault(row["document"], []).append(row)
    text = PAGE.read_text(encoding="utf-8")
    sections = {"timed suite": suite(programs)} | {f"timed {name}": variants(of) for name, of in programs.items()}
    for name, section in sections.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, rest = text.split(begin)
        _, after = rest.split(end)
        text = before + begin + section + end + after
    PAGE.write_text(text, encoding="utf-8")


def main():
    with open(sys.argv[1], newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if "program" in rows[0]:
        applications(rows)
        return
    rows = [row for row in rows if row["check"] == "ok"]
    families = {}
    for row in rows:
        families.setdefault(row["family"], []).append(row)
    for family, of_family in families.items():
        print(f"\n### {family}")
        if family == "copy":
            copies(of_family)
            of_family = [row for row in of_family if row["variant"] not in COPIES]
        if of_family:
            others(family, of_family)


main()
