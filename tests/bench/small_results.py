"""Made-up results of the shape that a run writes, for tests of the page."""

from typing import Any


def spiking_row(name: str, mode: str, speed: float, times: float) -> dict[str, Any]:
    """A contender that ran."""
    return {
        "name": name,
        "mode": mode,
        "differs": "" if name == "springback" else "nothing",
        "images_per_s": speed,
        "ours_over_it": times,
        "spikes_per_image": 13.0,
        "peak_mib": 20.0,
        "start_s": 1.5,
        "version": name,
    }


def small_results() -> dict[str, Any]:
    """One peer, one axis, nothing counted."""
    return {
        "made": {"date": "2026-01-01", "quick": True, "springback": "0.0", "peers": ["brian2"], "seconds": 10},
        "machine": {
            "processor": "a processor",
            "cores": 2,
            "memory_gib": 8.0,
            "caches": "L1 48K",
            "system": "Linux",
            "python": "3.11",
            "cores_busy_elsewhere": 0.05,
        },
        "versions": {"numpy": "2.0"},
        "spiking": [
            spiking_row(name, mode, speed, times)
            for name, speed, times in (("springback", 4000.0, 1.0), ("Brian2, C++ standalone", 40.0, 100.0))
            for mode in ("train", "test")
        ],
        "presets": [{"preset": "one", "training": 3000.0, "static": 5000.0, "short_term": 4000.0}],
        "elastic": [
            {"name": "elastic, exact", "frames_per_s": 50_000.0, "ours_over_it": 1.0},
            {"name": "river KMeans", "frames_per_s": 8.0, "ours_over_it": 6250.0},
            {"name": "plain NumPy loop", "frames_per_s": 25_000.0, "ours_over_it": 2.0},
        ],
        "growth": [
            {
                "axis": "neurons",
                "per": "image",
                "value": [100, 400],
                "seconds": [1e-4, 3e-4],
                "mib": [0.0, 4.0],
                "time_exponent": 0.79,
                "memory_exponent": None,
            }
        ],
        "roofline": {
            "limits": {"l1_triad_gb": 190.0, "l2_read_gb": 52.0, "multiply_adds_g": 42.0, "divisions_g": 5.5},
            "pieces": {
                "whole_us": 200.0,
                "membranes_us": 100.0,
                "arrivals_us": 15.0,
                "encoding_us": 37.0,
                "spikes_and_inhibition_us": 17.0,
                "rest_and_calls_us": 31.0,
                "rows_us": 73.0,
                "neuron_steps": 280_000,
                "input_spikes": 2400.0,
                "synaptic_events": 960_000.0,
            },
            "least": {"membranes_us": 50.0, "arrivals_us": 73.0, "whole_us": 73.0},
            "counts": {"absent": "valgrind is not installed"},
        },
        "guard": {"ratio": 30.0},
    }
