"""The commands of the benchmarks: `springback bench` and `springback data streams`."""
