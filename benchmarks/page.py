"""The results -> docs/benchmarks.md. Nothing is measured here, and every number comes from the JSON."""

from pathlib import Path
from typing import Any

from springback.atomic import atomic_file

PAGE, IMAGES = "docs/benchmarks.md", "docs/images"

Results = dict[str, Any]

BY_HAND = "Brian2, C++ standalone, step written by hand"
BARS = (
    ("train", "Brian2, C++ standalone", 70, 100),
    ("train", BY_HAND, 70, 100),
    ("train", "BindsNET", 600, 1000),
    ("test", "Brian2, C++ standalone", 35, 60),
    ("test", BY_HAND, 35, 60),
)
README_PEERS = ("Brian2, C++ standalone", BY_HAND, "ANNarchy, step written by hand", "BindsNET")
MARKS = ("<!-- speeds: written by make bench -->", "<!-- end of speeds -->")
ELASTIC_BARS = (("river KMeans", 100), ("plain NumPy loop", 3))

PIECES = {
    "membranes_us": "membranes: a division per neuron and step",
    "arrivals_us": "input spikes arriving (what does not fit under the divisions)",
    "encoding_us": "drawing the input spikes",
    "spikes_and_inhibition_us": "neurons that fire, their partners, the loop over steps",
    "rest_and_calls_us": "the rest after each image, and calls",
}


def write_page(found: Results, root: Path) -> None:
    """Page and plots, and the README's table of speeds where there is a README, below `root`."""
    from benchmarks.plots import draw_growth, draw_spiking
    from springback.figures.style import save_figure

    (root / IMAGES).mkdir(parents=True, exist_ok=True)
    save_figure(draw_spiking(found["spiking"]), root / IMAGES / "bench_spiking.png")
    save_figure(draw_growth(found["growth"]), root / IMAGES / "bench_growth.png")
    with atomic_file(root / PAGE) as file:
        file.write(page_of(found).encode())
    readme = root / "README.md"
    if readme.exists():
        text = with_speeds(readme.read_text(), found)
        with atomic_file(readme) as file:
            file.write(text.encode())


def with_speeds(readme: str, found: Results) -> str:
    """The README with its table of speeds as measured: what stands between the two marks."""
    before, rest = readme.split(MARKS[0])
    return f"{before}{MARKS[0]}\n\n{speed_table(found)}\n\n{MARKS[1]}{rest.split(MARKS[1])[1]}"


def speed_table(found: Results) -> str:
    """Our speeds, and how many times faster than each peer in the same run."""
    lines = [_row("work", "speed", "times faster than"), _rule(3)]
    for mode, what in (("train", "training"), ("test", "testing")):
        ours = _of(found, "springback", mode)["images_per_s"]
        peers = [
            f"{row['name']}: {_number(row['ours_over_it'])}"
            for row in found["spiking"]
            if row["mode"] == mode and row["name"] in README_PEERS and "ours_over_it" in row
        ]
        lines.append(_row(f"spiking network, 400 neurons: {what}", f"{_number(ours)} images/s", "; ".join(peers)))
    for row in found["presets"]:
        speeds = f"{_number(row['short_term'])} (static {_number(row['static'])}) frames/s"
        lines.append(_row(f"the same, OMNIST with short-term STDP, preset `{row['preset']}`", speeds, ""))
    elastic = {row["name"]: row for row in found["elastic"]}
    peers = [f"{name}: {_number(elastic[name]['ours_over_it'])}" for name, _ in ELASTIC_BARS if name in elastic]
    speed = f"{_number(elastic['elastic, exact']['frames_per_s'])} frames/s"
    lines.append(_row("elastic clustering, 400 centroids, float32", speed, "; ".join(peers)))
    return "\n".join(lines)


def page_of(found: Results) -> str:
    """The whole page as Markdown."""
    parts = (_head, _bars, _spiking, _presets, _elastic, _growth, _roofline)
    return "\n\n".join(part(found) for part in parts) + "\n"


def _head(found: Results) -> str:
    made, machine = found["made"], found["machine"]
    mode = "quick mode" if made["quick"] else "full run"
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    peers = sorted({row["version"] for row in found["spiking"] if "version" in row and row["name"] != "springback"})
    return f"""# How fast it is, against whom, and how it grows

Written by `make bench` from `benchmarks/results.json`; not by hand. springback {made["springback"]}, {made["date"]},
{mode} ({made["seconds"]:,} s).

{machine["processor"]}, {machine["cores"]} cores ({machine["caches"]}), {machine["memory_gib"]} GiB,
{machine["system"]}, Python {machine["python"]}.
{versions}.
Peers: {", ".join(peers) or "none"}.

One thread. Speeds are per second of processor time, so that other work on the machine counts as little as possible, and
the best of a few runs, equally many for springback and each simulator.{_busy(machine)}{_remark(made)}"""


def _remark(made: Results) -> str:
    return f"\n\n{made['remark']}" if "remark" in made else ""


def _busy(machine: Results) -> str:
    elsewhere = machine["cores_busy_elsewhere"]
    if elsewhere <= 0.15:
        return f" Other programs kept {elsewhere:.2f} cores busy meanwhile."
    return (
        f"\n\n**The machine was busy with other work: {elsewhere:.1f} cores during this run.** Shared caches and memory"
        "\nthen slow programs unequally, those with large arrays most, while springback's fit the caches of a core: the"
        "\nratios below are provisional, and likely to flatter springback."
    )


def _bars(found: Results) -> str:
    lines = ["## Bars", "", _row("what", "measured", "bar", "aim", ""), _rule(5)]
    missed = []
    for mode, name, bar, aim in BARS:
        peer = _of(found, name, mode)
        lines.append(_row(f"{mode}ing: times {name}", *_against(peer.get("ours_over_it"), bar, aim)))
        if peer.get("ours_over_it", bar) < bar:
            missed.append(_in_the_way(found, mode, peer, bar))
    elastic = {row["name"]: row["ours_over_it"] for row in found["elastic"]}
    for name, bar in ELASTIC_BARS:
        lines.append(_row(f"elastic tracking: times {name}", *_against(elastic.get(name), bar, None)))
    return "\n".join(lines + [line for one in missed for line in ("", one)])


def _in_the_way(found: Results, mode: str, peer: Results, bar: int) -> str:
    ours, limit = _of(found, "springback", mode)["images_per_s"], 1e6 / found["roofline"]["least"]["whole_us"]
    theirs = peer["images_per_s"]
    return (
        f"{mode.capitalize()}ing {bar} times as fast as {peer['name']} ({_number(theirs)} images/s)\n"
        f"would take {_number(bar * theirs)} images/s. Divisions and reads of weights alone would allow this core\n"
        f"{_number(limit)} in testing ([below](#how-near-the-machines-limit)); springback does {_number(ours)}."
    )


def _of(found: Results, name: str, mode: str) -> Results:
    return next((row for row in found["spiking"] if (row["name"], row["mode"]) == (name, mode)), {})


def _against(value: float | None, bar: float, aim: float | None) -> tuple[str, ...]:
    if value is None:
        return "not measured", f"{bar:,}", f"{aim:,}" if aim else "", ""
    verdict = "missed" if value < bar else "met" if aim is None or value < aim else "aim met"
    return f"{value:,.0f}", f"{bar:,}", f"{aim:,}" if aim else "", verdict


def _spiking(found: Results) -> str:
    intro = """## The spiking network beside other simulators

784 inputs, 400 + 400 neurons, dt 0.5 ms, the paper's parameters, weights and thresholds after 20,000 training digits;
then new digits, each shown once (350 ms and 150 ms of rest). All start from the same images, weights and thresholds;
peers get input spikes drawn beforehand, while springback draws its own within its time. *Output spikes* per image tell
whether a peer does comparable work. *Start* is import, building and compiling, nothing cached, in seconds of
wall-clock. The models of the peers (`benchmarks/peers`) are written from the equations, with an integrator that is
stable."""
    tables = []
    for mode, title in (("train", "Training"), ("test", "Testing")):
        head = _row(title, "images/s", "springback is faster by", "output spikes", "peak memory, MiB", "start, s")
        lines = [head, _rule(6)]
        lines += [_spiking_row(row) for row in found["spiking"] if row["mode"] == mode]
        tables.append("\n".join(lines))
    notes = dict.fromkeys((row["name"], row["differs"]) for row in found["spiking"] if row["differs"])
    differ = "\n".join(f"* {name}: {differs}." for name, differs in notes)
    picture = "![images per second of each simulator](images/bench_spiking.png)"
    return "\n\n".join([intro, *tables, "What differs:\n\n" + differ, picture])


def _spiking_row(row: Results) -> str:
    if "absent" in row:
        return _row(row["name"], f"absent: {_plain(row['absent'])}", "", "", "", "")
    return _row(
        row["name"],
        _number(row["images_per_s"]),
        f"{_number(row['ours_over_it'])} times" if row["name"] != "springback" else "",
        f"{row['spikes_per_image']:.1f}",
        f"{row['peak_mib']:.0f}",
        f"{row['start_s']:.1f}",
    )


def _presets(found: Results) -> str:
    lines = [
        "As it is used, with images that are shown again when too few neurons fire, and following OMNIST (frames",
        "follow each other without rest):",
        "",
        _row(
            "preset",
            "training, images/s",
            "OMNIST, static, frames/s",
            "OMNIST, short-term STDP, frames/s",
            "cost of short-term STDP",
        ),
        _rule(5),
    ]
    for row in found["presets"]:
        cost = f"{row['static'] / row['short_term']:.2f} times"
        lines.append(_row(row["preset"], *(f"{row[name]:,.0f}" for name in ("training", "static", "short_term")), cost))
    return "\n".join(lines)


def _elastic(found: Results) -> str:
    lines = [
        "## Elastic clustering beside stream clustering",
        "",
        "400 centroids, 784 features, float32, the frames of an OMNIST video one by one.",
        "",
        _row("", "frames/s", "elastic, exact is faster by"),
        _rule(3),
    ]
    for row in found["elastic"]:
        lines.append(_row(row["name"], _number(row["frames_per_s"]), f"{_number(row['ours_over_it'])} times"))
    return "\n".join(lines)


def _growth(found: Results) -> str:
    lines = [
        "## How it grows",
        "",
        "Cost ~ value^exponent, fitted over all points. Memory is what comes on top of the program itself.",
        "",
        _row("axis", "from", "to", "points", "time", "exponent of time", "memory, MiB", "exponent of memory"),
        _rule(8),
    ]
    for one in found["growth"]:
        span = f"{_time(one['seconds'][0])} ... {_time(one['seconds'][-1])} per {one['per']}"
        memory = f"{one['mib'][0]:.1f} ... {one['mib'][-1]:.1f}"
        slopes = ["-" if one[name] is None else f"{one[name]:.2f}" for name in ("time_exponent", "memory_exponent")]
        values = (f"{one['value'][0]:,}", f"{one['value'][-1]:,}", str(len(one["value"])))
        lines.append(_row(one["axis"], *values, span, slopes[0], memory, slopes[1]))
    return "\n".join([*lines, "", "![time and memory against each axis](images/bench_growth.png)"])


def _roofline(found: Results) -> str:
    limits, pieces, least, counts = (found["roofline"][name] for name in ("limits", "pieces", "least", "counts"))
    whole = pieces["whole_us"]
    per_step, per_event = (
        1e3 * pieces[piece] / pieces[unit]
        for piece, unit in (("membranes_us", "neuron_steps"), ("arrivals_us", "synaptic_events"))
    )
    lines = [
        "## How near the machine's limit",
        "",
        f"A tested image is {pieces['neuron_steps']:,.0f} neuron steps and {pieces['synaptic_events']:,.0f} synaptic",
        f"events ({pieces['input_spikes']:,.0f} input spikes), in {whole:.0f} us:",
        f"{per_step:.2f} ns per neuron step, {per_event:.3f} ns more per event.",
        "",
        f"One core of this machine does {limits['divisions_g']:.1f} divisions and {limits['multiply_adds_g']:.0f}",
        f"multiply-adds (float32), reads {limits['l2_read_gb']:.0f} bytes from the second-level cache and moves",
        f"{limits['l1_triad_gb']:.0f} bytes (triad) in the first-level cache per nanosecond, in loops compiled the",
        f"same way. A division per neuron step would take {least['membranes_us']:.0f} us, reading a weight per event",
        f"{least['arrivals_us']:.0f} us; they can overlap, so {least['whole_us']:.0f} us is the limit, and we reach",
        f"{100 * least['whole_us'] / whole:.0f} % of it. Where the time goes:",
        "",
        _row("piece", "us per image", "share"),
        _rule(3),
        *(_row(title, f"{pieces[name]:.0f}", f"{100 * pieces[name] / whole:.0f} %") for name, title in PIECES.items()),
        "",
    ]
    if "absent" in counts:
        lines.append(f"Instructions and bytes: {_plain(counts['absent'])}.")
    else:
        lines.append(
            f"Counted by cachegrind, for AVX2 code: {counts['instructions_per_neuron_step']:.2f} instructions and "
            f"{counts['bytes_per_neuron_step']:.2f} bytes fetched into the first-level cache per neuron step, "
            f"{counts['instructions_per_event']:.2f} and {counts['bytes_per_event']:.2f} per synaptic event "
            "(a weight is 4 bytes); "
            f"{counts['instructions_per_image'] / 1e6:.2f} million instructions per image."
        )
    return "\n".join(lines)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _rule(n: int) -> str:
    return _row(*("---",) * n)


def _plain(text: str) -> str:
    return text.replace("|", "/").replace("<", "(").replace(">", ")").replace("`", "'")


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _time(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
