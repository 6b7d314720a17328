"""Turn the results into docs/benchmarks.md. Nothing is measured here; every number comes from the JSON file."""

from pathlib import Path
from typing import Any

from springback.files.atomic import atomic_file
from springback_bench.markdown import number, plain, table_row, table_rule

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
MORE_CORES = (8, 32)
README_PEERS = ("Brian2, C++ standalone", BY_HAND, "ANNarchy, step written by hand", "BindsNET")
MARKS = ("<!-- speeds: written by make bench -->", "<!-- end of speeds -->")
ELASTIC_BARS = (("river KMeans", 100), ("plain NumPy loop", 3))

PIECES = {
    "membranes_us": "membranes: one division per neuron and step",
    "arrivals_us": "arriving input spikes (the part that does not overlap with the divisions)",
    "encoding_us": "drawing the input spikes",
    "spikes_and_inhibition_us": "neurons that fire, their inhibitory partners, the loop over steps",
    "rest_and_calls_us": "the rest period after each image, and function calls",
}

_HERE = "this machine"


def write_page(found: Results, root: Path) -> None:
    """Write the page and the plots below `root`, and update the table of speeds if there is a README."""
    from springback_bench.speed.plots import draw_growth, draw_spiking
    from springback_paper.figures.style import save_figure

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
    """Return the README with the measured speeds in the table between the two marks."""
    before, rest = readme.split(MARKS[0])
    return f"{before}{MARKS[0]}\n\n{speed_table(found)}\n\n{MARKS[1]}{rest.split(MARKS[1])[1]}"


def speed_table(found: Results) -> str:
    """Return our speeds, and how many times faster they are than each peer in the same run."""
    lines = [table_row("work", "speed", "times faster than"), table_rule(3)]
    for mode, what in (("train", "training"), ("test", "testing")):
        ours = _of(found, "springback", mode)["images_per_s"]
        peers = [
            f"{row['name']}: {number(row['ours_over_it'])}"
            for row in found["spiking"]
            if row["mode"] == mode and row["name"] in README_PEERS and "ours_over_it" in row
        ]
        lines.append(table_row(f"spiking network, 400 neurons: {what}", f"{number(ours)} images/s", "; ".join(peers)))
    for row in found["presets"]:
        speeds = f"{number(row['short_term'])} (static {number(row['static'])}) frames/s"
        lines.append(table_row(f"the same, OMNIST with short-term STDP, preset `{row['preset']}`", speeds, ""))
    elastic = {row["name"]: row for row in found["elastic"]}
    peers = [f"{name}: {number(elastic[name]['ours_over_it'])}" for name, _ in ELASTIC_BARS if name in elastic]
    speed = f"{number(elastic['elastic, exact']['frames_per_s'])} frames/s"
    lines.append(table_row("elastic clustering, 400 centroids, float32", speed, "; ".join(peers)))
    return "\n".join(lines)


def page_of(found: Results) -> str:
    """Return the whole page as Markdown."""
    parts = (_head, _bars, _spiking, _presets, _elastic, _start, _growth, _roofline)
    return "\n\n".join(text for part in parts if (text := part(found))) + "\n"


def _head(found: Results) -> str:
    made, machine = found["made"], found["machine"]
    mode = "quick mode" if made["quick"] else "full run"
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    peers = sorted({row["version"] for row in found["spiking"] if "version" in row and row["name"] != "springback"})
    return f"""# Benchmarks: speed, other simulators, and scaling

This page was written by `make bench` from `docs/data/speed.json`; do not edit it by hand.

* springback {made["springback"]}, {made["date"]}, {mode} ({made["seconds"]:,} s)
* {machine["processor"]}, {machine["cores"]} cores ({machine["caches"]}), {machine["memory_gib"]} GiB,
  {machine["system"]}, Python {machine["python"]}
* {versions}
* Other simulators: {", ".join(peers) or "none"}

All programs ran with one thread. Speeds are per second of processor time, so that other work on the machine has as
little influence as possible. Each speed is the best of a few runs, with as many runs for springback as for each of
the other simulators.{_busy(machine)}{_remark(made)}"""


def _remark(made: Results) -> str:
    return f"\n\n{made['remark']}" if "remark" in made else ""


def _busy(machine: Results) -> str:
    elsewhere = machine["cores_busy_elsewhere"]
    if elsewhere <= 0.15:
        return f" Other programs kept {elsewhere:.2f} cores busy during the run."
    return (
        f"\n\n**The machine was busy with other work: {elsewhere:.1f} cores during this run.** Shared caches and memory"
        "\nthen slow down some programs more than others. Programs with large arrays suffer most, while springback's"
        "\narrays fit the caches of a core. The ratios below are provisional, and likely to flatter springback."
    )


def _bars(found: Results) -> str:
    lines = [
        "## Targets",
        "",
        "The column *measured* says how many times as fast springback is.",
        "",
        table_row("comparison", "measured", "required", "aim", ""),
        table_rule(5),
    ]
    missed = []
    for mode, name, bar, aim in BARS:
        peer = _of(found, name, mode)
        lines.append(table_row(f"{mode}ing: times {name}", *_against(peer.get("ours_over_it"), bar, aim)))
        if peer.get("ours_over_it", bar) < bar:
            missed.append(_in_the_way(found, mode, peer, bar))
    elastic = {row["name"]: row["ours_over_it"] for row in found["elastic"]}
    for name, bar in ELASTIC_BARS:
        lines.append(table_row(f"elastic tracking: times {name}", *_against(elastic.get(name), bar, None)))
    return "\n".join(lines + [line for one in missed for line in ("", one)])


def _in_the_way(found: Results, mode: str, peer: Results, bar: int) -> str:
    ours, theirs = _of(found, "springback", mode)["images_per_s"], peer["images_per_s"]
    wanted = (
        f"{mode.capitalize()}ing {bar} times as fast as {peer['name']} ({number(theirs)} images/s)\n"
        f"would take {number(bar * theirs)} images/s; springback does {number(ours)}. "
    )
    if _where(found) != _HERE:
        return (
            wanted + "How close this is to the limit of a\nmachine is said [below](#how-close-to-the-machines-limit)."
        )
    limit = 1e6 / found["roofline"]["least"]["whole_us"]
    return (
        f"{wanted}If a core did nothing but the\n"
        f"divisions and the additions of weights, it would reach {number(limit)} images/s in testing\n"
        "([see below](#how-close-to-the-machines-limit))."
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

The network has 784 inputs and 400 + 400 neurons, with dt 0.5 ms, the paper's parameters, and weights and thresholds
after 20,000 training digits. It is then shown new digits, each once (350 ms, followed by 150 ms of rest). All
simulators start from the same images, weights and thresholds. The other simulators receive input spikes that were
drawn in advance, while springback draws its own within the measured time. *Output spikes* per image show whether a
simulator does comparable work. *Start* is the wall-clock time in seconds for import, building and compiling, with
nothing cached. The models for the other simulators (`speed/peers`) are written from the equations, with a stable
integrator."""
    tables = []
    for mode, title in (("train", "Training"), ("test", "Testing")):
        head = table_row(title, "images/s", "springback is faster by", "output spikes", "peak memory, MiB", "start, s")
        lines = [head, table_rule(6)]
        lines += [_spiking_row(row) for row in found["spiking"] if row["mode"] == mode]
        tables.append("\n".join(lines))
    notes = dict.fromkeys((row["name"], row["differs"]) for row in found["spiking"] if row["differs"])
    differ = "\n".join(f"* {name}: {differs}." for name, differs in notes)
    picture = "![images per second of each simulator](images/bench_spiking.png)"
    return "\n\n".join([intro, *tables, "The simulators differ in these points:\n\n" + differ, picture])


def _spiking_row(row: Results) -> str:
    if "absent" in row:
        return table_row(row["name"], f"absent: {plain(row['absent'])}", "", "", "", "")
    return table_row(
        row["name"],
        number(row["images_per_s"]),
        f"{number(row['ours_over_it'])} times" if row["name"] != "springback" else "",
        f"{row['spikes_per_image']:.1f}",
        f"{row['peak_mib']:.0f}",
        f"{row['start_s']:.1f}",
    )


def _presets(found: Results) -> str:
    lines = [
        "The next table shows springback in normal use: images are shown again when too few neurons fire, and OMNIST",
        "frames follow each other without rest.",
        "",
        table_row(
            "preset",
            "training, images/s",
            "OMNIST, static, frames/s",
            "OMNIST, short-term STDP, frames/s",
            "cost of short-term STDP",
        ),
        table_rule(5),
    ]
    for row in found["presets"]:
        cost = f"{row['static'] / row['short_term']:.2f} times"
        lines.append(
            table_row(row["preset"], *(f"{row[name]:,.0f}" for name in ("training", "static", "short_term")), cost)
        )
    return "\n".join(lines)


def _elastic(found: Results) -> str:
    lines = [
        "## Elastic clustering beside stream clustering",
        "",
        "All methods have 400 centroids and 784 features, in float32 unless stated otherwise, and process the frames",
        "of an OMNIST video one by one.",
        "",
        table_row("", "frames/s", "elastic, exact is faster by"),
        table_rule(3),
    ]
    for row in found["elastic"]:
        lines.append(table_row(row["name"], number(row["frames_per_s"]), f"{number(row['ours_over_it'])} times"))
    return "\n".join(lines)


def _start(found: Results) -> str:
    """Return nothing for results that were made before this was measured."""
    if "start" not in found:
        return ""
    lines = [
        "## Start",
        "",
        "Wall-clock seconds from starting the program to the first result, with the processor time in brackets: the",
        "first time, when code is compiled (the progress display says so), and the next time.",
        "",
        table_row("", "first time", "next time"),
        table_rule(3),
    ]
    for row in found["start"]:
        cells = (f"{row[f'{when}_s']:.1f} ({row[f'{when}_processor_s']:.1f})" for when in ("first", "next"))
        lines.append(table_row(row["name"], *cells))
    return "\n".join(lines)


def _growth(found: Results) -> str:
    lines = [
        "## Scaling",
        "",
        "The exponents are fitted over all points, with cost ~ value^exponent. Memory is counted in addition to that",
        "of the program itself.",
        "",
        table_row("axis", "from", "to", "points", "time", "exponent of time", "memory, MiB", "exponent of memory"),
        table_rule(8),
    ]
    for one in found["growth"]:
        span = f"{_time(one['seconds'][0])} ... {_time(one['seconds'][-1])} per {one['per']}"
        memory = f"{one['mib'][0]:.1f} ... {one['mib'][-1]:.1f}"
        slopes = ["-" if one[name] is None else f"{one[name]:.2f}" for name in ("time_exponent", "memory_exponent")]
        values = (f"{one['value'][0]:,}", f"{one['value'][-1]:,}", str(len(one["value"])))
        lines.append(table_row(one["axis"], *values, span, slopes[0], memory, slopes[1]))
    more = [text for part in (_more_cores, _most_neurons) for text in part(found)]
    return "\n".join([*lines, *more, "", "![time and memory against each axis](images/bench_growth.png)"])


def _more_cores(found: Results) -> list[str]:
    """What two cores gain, and what more would by Amdahl's law, if the part that cannot be shared stays as large."""
    lines = []
    for one in found["growth"]:
        if one["axis"].startswith("cores") and one["value"][:2] == [1, 2]:
            gain = one["seconds"][0] / one["seconds"][1]
            alone = min(max(2 / gain - 1, 0.0), 1.0)
            more = " and ".join(f"{1 / (alone + (1 - alone) / cores):.1f} times on {cores}" for cores in MORE_CORES)
            lines.append(f"* {one['per']}: {gain:.2f} times as fast on two cores as on one; {more} by the model.")
    if not lines:
        return []
    model = (
        "More cores than two were not measured. By Amdahl's law, with the part of the work that two cores do not\n"
        "share, as long as every core has its own second-level cache:"
    )
    return ["", model, "", *lines]


def _most_neurons(found: Results) -> list[str]:
    """What bounds the largest circuit: its weights, which no cache holds."""
    neurons = next((one for one in found["growth"] if one["axis"] == "neurons"), None)
    reads = found["roofline"]["limits"].get("memory_read_gb")
    if neurons is None or reads is None:
        return []
    most, seconds, spikes = neurons["value"][-1], neurons["seconds"][-1], found["roofline"]["pieces"]["input_spikes"]
    moved = 4e-9 * spikes * most
    return [
        "",
        f"With {most:,} neurons, an image takes {_time(seconds)}. Its {spikes:,.0f} input spikes add {moved:.2f} GB of",
        f"weights to conductances. The matrix of {4e-6 * 784 * most:.0f} MB is larger than the caches, and one core of",
        f"{_where(found)} reads {reads:.1f} GB/s of such an array in order, so reading these weights alone takes",
        f"{100 * moved / reads / seconds:.0f} % of that time.",
    ]


def _roofline(found: Results) -> str:
    limits, pieces, least, counts = (found["roofline"][name] for name in ("limits", "pieces", "least", "counts"))
    whole = pieces["whole_us"]
    per_step, per_event = (
        1e3 * pieces[piece] / pieces[unit]
        for piece, unit in (("membranes_us", "neuron_steps"), ("arrivals_us", "synaptic_events"))
    )
    bytes_per_ns = 4e-3 * pieces["synaptic_events"] / least["arrivals_us"]
    lines = [
        "## How close to the machine's limit",
        "",
        f"Testing one image takes {pieces['neuron_steps']:,.0f} neuron steps and {pieces['synaptic_events']:,.0f}",
        f"synaptic events ({pieces['input_spikes']:,.0f} input spikes) in {whole:.0f} us, which is",
        f"{per_step:.2f} ns per neuron step and another {per_event:.3f} ns per event.",
        "",
        f"Per nanosecond, one core of {_where(found)} does {limits['divisions_g']:.1f} divisions and",
        f"{limits['multiply_adds_g']:.0f} multiply-adds (float32), reads {limits['l2_read_gb']:.0f} bytes of one long",
        f"array from the second-level cache, and moves {limits['l1_triad_gb']:.0f} bytes (triad) in the first-level",
        "cache, in loops compiled in the same way. One division per neuron step would take",
        f"{least['membranes_us']:.0f} us. Input spikes do not read one long array: each adds a row of 1.6 kB from",
        "anywhere in the matrix to the conductances, which are read and written. With the spikes of real images, this",
        f"alone takes {least['arrivals_us']:.0f} us ({bytes_per_ns:.0f} bytes per nanosecond).",
        "",
        f"The two can overlap, so the limit is {least['whole_us']:.0f} us, and springback reaches",
        f"{100 * least['whole_us'] / whole:.0f} % of it. The time is spent as follows:",
        "",
        table_row("part", "us per image", "share"),
        table_rule(3),
        *(
            table_row(title, f"{pieces[name]:.0f}", f"{100 * pieces[name] / whole:.0f} %")
            for name, title in PIECES.items()
        ),
        "",
    ]
    if "absent" in counts:
        lines.append(f"Instructions and bytes: {plain(counts['absent'])}.")
    else:
        lines.append(
            f"As counted by cachegrind for AVX2 code: {counts['instructions_per_neuron_step']:.2f} instructions and "
            f"{counts['bytes_per_neuron_step']:.2f} bytes fetched into the first-level cache per neuron step, "
            f"{counts['instructions_per_event']:.2f} and {counts['bytes_per_event']:.2f} per synaptic event "
            "(a weight is 4 bytes); "
            f"{counts['instructions_per_image'] / 1e6:.2f} million instructions per image."
        )
    return "\n".join(lines)


def _where(found: Results) -> str:
    """The machine of the limits, if they were measured on another than the rest."""
    machine = found["roofline"].get("machine", found["machine"])
    return _HERE if machine == found["machine"] else f"another {machine['processor']} ({machine['caches']})"


def _time(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
