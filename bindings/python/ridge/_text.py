# SPDX-License-Identifier: Apache-2.0
"""Results as people read them."""
from __future__ import annotations

import math
from typing import Any, Dict, List, Optional


def _scaled(value: Optional[float], units: "tuple[tuple[float, str], ...]") -> str:
    if value is None or math.isnan(value):
        return "n/a"
    for scale, unit in units:
        if abs(value) >= scale:
            return f"{value / scale:#.4g} {unit}".replace(". ", " ")
    return f"{value:.4g} {units[-1][1]}" if units[-1][0] == 1 else f"{value:.4g}"


def time(ns: Optional[float]) -> str:
    """"20.92 us"."""
    return _scaled(ns, ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1, "ns")))


def bandwidth(rate: Optional[float]) -> str:
    return _scaled(rate, ((1e12, "TB/s"), (1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1, "B/s")))


def arithmetic(rate: Optional[float]) -> str:
    return _scaled(rate, ((1e12, "TFLOP/s"), (1e9, "GFLOP/s"), (1e6, "MFLOP/s"), (1, "FLOP/s")))


def percent(frac: Optional[float]) -> str:
    return "n/a" if frac is None else f"{100 * frac:.2g} %" if frac < 1 else f"{100 * frac:.0f} %"


def effect(ratio: float) -> str:
    """"4.1 % faster", "3.2x slower"."""
    word = "faster" if ratio < 1 else "slower"
    if 0.5 < ratio < 2:
        return f"{100 * abs(ratio - 1):.2g} % {word}"
    return f"{max(ratio, 1 / ratio):.3g}x {word}"


def where(result: Dict[str, Any]) -> str:
    """"cold (rotation 4, 5.3x L2)   NVIDIA H200, 1.98 GHz"."""
    run, device = result["run"], result["device"]
    line = run["cache"]
    if run["cache"] != "hot" and run["rotation"] > 0 and run["rotation_l2"] is not None:
        line += f" (rotation {run['rotation']}, {run['rotation_l2']:.2g}x L2)"
    return f"{line}   {device['name']}"


def deciding_ns(arm: Dict[str, Any]) -> Optional[float]:
    """The time that decides: of a launch among many where launches are amortised."""
    amortized: Optional[float] = arm["amortized_ns"]
    single: Optional[float] = arm["median_ns"]
    return single if amortized is None else amortized


def arm_line(letter: str, arm: Dict[str, Any], width: int) -> str:
    line = f"  {letter}  {arm['name']:<{width}}  {time(deciding_ns(arm)):>10}"
    if arm["bytes_per_s"]:
        line += f"  {bandwidth(arm['bytes_per_s']):>10}"
    if arm["flop_per_s"]:
        line += f"  {arithmetic(arm['flop_per_s']):>13}"
    if arm["roof_frac"] is not None:
        line += f"  {100 * arm['roof_frac']:.0f} % of the measured roof"
    elif arm["nominal_frac"] is not None:
        line += f"  {100 * arm['nominal_frac']:.0f} % of the nominal roof"
    if arm["is_launch_bound"]:
        line += "  launch-bound"
    if arm["amortized_ns"] is not None and arm["median_ns"] != arm["amortized_ns"]:
        line += f"  ({time(arm['median_ns'])} alone)"
    return line


def difference(found: Dict[str, Any]) -> str:
    """One line: the worst element, how many, and a cause that two arms can have."""
    text = f"{found['name']}"
    if found["worst_index"] >= 0:
        text += (f" at {_place(found, found['worst_index'])} is {_value(found['worst_out'])}, "
                 f"expected {_value(found['worst_ref'])}")
    plural = "s" * (found["element_count"] != 1)
    text += f"; {found['wrong_count']:,} of {found['element_count']:,} element{plural} wrong"
    is_shape = found["cause"] and found["cause_id"] not in ("scattered", "low_precision")
    return f"{text}; {found['cause']}" if is_shape else text


def mismatch(found: Dict[str, Any]) -> List[str]:
    """Where an output is wrong, and the most likely cause."""
    shape = "x".join(str(extent) for extent in found["shape"])
    count, wrong = found["element_count"], found["wrong_count"]
    if found["match"] in ("exact", "within"):
        return [f"{found['name']} {shape} {found['dtype']}: {found['match']}"]
    lines = [f"{found['name']} {shape} {found['dtype']}: {wrong:,} of {count:,} "
             f"element{'s' * (count != 1)} wrong ({100 * wrong / max(1, count):.3g} %)"]
    if found["cause"]:
        lines.append(f"  cause: {found['cause']} [{found['cause_id']}]")
    if found["worst_index"] >= 0:
        lines.append(
            f"  worst: {_place(found, found['worst_index'])} is {_value(found['worst_out'])} "
            f"({found['worst_out_bits']}), expected {_value(found['worst_ref'])}; "
            f"{_value(found['worst_scaled_error'])} times the bound")
    if found["first_index"] >= 0:
        box = ", ".join(f"{a}..{b}" for a, b in zip(found["box_first"], found["box_last"]))
        lines.append(f"  first: {_place(found, found['first_index'])}; all within [{box}]")
    for region in found["regions"][:4]:
        if region["share_frac"] > 0:
            lines.append(f"  axis {region['axis']}, {region['first']}..{region['last']}: "
                         f"{100 * region['share_frac']:.3g} % wrong")
    period = found["period"]
    if period:
        lines.append(f"  axis {period['axis']} modulo {period['modulus']}: residues "
                     f"{period['residue_first']}..{period['residue_last']}")
    for relation in found["relations"][:3]:
        lines.append(f"  {relation['text']} in {100 * relation['share_frac']:.3g} % of them")
    return lines


def _value(value: Optional[float]) -> str:
    return "nan" if value is None else f"{value:.7g}"


def _place(found: Dict[str, Any], index: int) -> str:
    coordinates: List[int] = []
    for extent in reversed(found["shape"]):
        coordinates.append(index % max(1, extent))
        index //= max(1, extent)
    return f"[{', '.join(str(c) for c in reversed(coordinates))}]"
