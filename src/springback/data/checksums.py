"""The original files of MNIST and Fashion-MNIST: names, shapes and SHA-256 checksums of the uncompressed bytes."""

from springback.data.idx import IdxFile

SplitFiles = dict[str, tuple[IdxFile, IdxFile]]


def _mnist_like(train_images: str, train_labels: str, test_images: str, test_labels: str) -> SplitFiles:
    return {
        "train": (
            IdxFile("train-images-idx3-ubyte", (60_000, 28, 28), train_images),
            IdxFile("train-labels-idx1-ubyte", (60_000,), train_labels),
        ),
        "test": (
            IdxFile("t10k-images-idx3-ubyte", (10_000, 28, 28), test_images),
            IdxFile("t10k-labels-idx1-ubyte", (10_000,), test_labels),
        ),
    }


MNIST_FILES = _mnist_like(
    "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
)
FASHION_MNIST_FILES = _mnist_like(
    "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
    "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
    "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
    "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
)
KNOWN_SUMS = frozenset(
    file.sha256 for files in (MNIST_FILES, FASHION_MNIST_FILES) for pair in files.values() for file in pair
)
"""All checksums above: a file with one of them is intact, although it may belong to the other data set."""
