"""Builds documents and passages for the tests of search, and a book on robots."""

from datetime import UTC, datetime

from judge.types.search import DocumentWithPassages, IndexedDocument, Passage

BOOK = {
    "ros2/intro": [
        "ROS 2 is the second generation of the robot operating system, a set of libraries.",
        (
            "A node in ROS 2 is a process that computes. How nodes handle their communication: "
            "publishes messages on topics, and others subscribe to them."
        ),
        "Services are a second kind of communication between nodes: a request and its reply.",
    ],
    "ros2/packages": [
        "A package holds nodes, launch files and parameters, and is built with colcon.",
        "Launch files start several nodes of ROS 2 at once, with their parameters.",
        "The tools of ROS 2 list nodes and topics, and record messages.",
    ],
    "perception/sensors": [
        "Sensors measure the world: a lidar measures distance, a camera sees light.",
        "An inertial sensor measures acceleration; techniques of filtering remove its drift.",
        "Calibration of sensors comes before anything else, or all estimates are biased.",
        "Fusing several sensors gives better estimates than the best of them alone.",
    ],
    "motion/navigation": [
        "Navigation is finding a path and following it without touching anything.",
        "A costmap tells navigation where obstacles are, from the lidar and other sensors.",
        "Planning techniques for navigation search a grid or sample the free space.",
    ],
    "motion/control": [
        "A controller follows the path: common techniques are pure pursuit and model prediction.",
        "Tuning techniques for controllers start with a small gain.",
    ],
}


def passage(
    text: str,
    *,
    document: str = "doc",
    collection: str = "default",
    position: int = 0,
    title: str = "A title",
    **more: object,
) -> Passage:
    return Passage(
        document_id=document,
        collection=collection,
        position=position,
        title=title,
        text=text,
        path=str(more.pop("path", f"{document}.md")),
        **more,
    )


def document(
    *texts: str,
    id: str = "doc",  # noqa: A002
    collection: str = "default",
    content_hash: str = "hash",
    modified: datetime | None = None,
    **more: object,
) -> DocumentWithPassages:
    passages = tuple(
        passage(
            text,
            document=id,
            collection=collection,
            position=position,
            modified=modified,
            content_hash=content_hash,
            **more,
        )
        for position, text in enumerate(texts)
    )
    record = IndexedDocument(
        id, collection, passages[0].path, content_hash, len(passages), modified, 17, 42
    )
    return DocumentWithPassages(record, passages)


def book(collection: str = "robots") -> list[DocumentWithPassages]:
    """The book, one document for each chapter."""
    return [
        document(
            *texts,
            id=name,
            collection=collection,
            title=name.rpartition("/")[2].title(),
            folder=name.partition("/")[0],
            modified=datetime(2025, 3, 1, tzinfo=UTC),
        )
        for name, texts in BOOK.items()
    ]
