"""The tables of docs/measurements.md from a file that `warpwright-bench --csv` wrote: python3 bench/tables.py results.csv

Figures are GB/s or GFLOP/s of the median run; in brackets the twin's time over ours.
"""

import csv
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


def main():
    with open(sys.argv[1], newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["check"] == "ok"]
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
