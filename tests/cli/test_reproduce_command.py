"""`springback reproduce` on a few digits."""

from tests.cli.test_data_command import springback


def test_reproduce_prints_our_numbers_beside_those_of_the_paper():
    done = springback("reproduce", "--limit", 300, "--neurons", 20)
    assert done.returncode == 0, done.stderr
    for part in ("87.90", "spiking, 20 neurons", "elastic, 20 centroids", "Still to come"):
        assert part in done.stdout
