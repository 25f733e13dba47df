"""The lines of a mosquitto.conf, those of the folders that it includes in their place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from topicloom.mesh.model.config_files import Location, read_text

MOST_INCLUDES = 16  # folders within folders; a folder that includes itself would never end


@dataclass(frozen=True, slots=True)
class ConfLine:
    """One line as it stands; `words` is empty for comments and empty lines."""

    text: str
    words: tuple[str, ...]
    where: Location

    @property
    def key(self) -> str:
        return self.words[0] if self.words else ""

    @property
    def rest(self) -> str:
        """All behind the first word, spaces within it kept."""
        parts = self.text.split(None, 1)
        return parts[1].strip() if len(parts) > 1 else ""


class ConfReader:
    """Reads a file and all that it includes, and keeps the folders that these are in."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.folders: list[Path] = []

    def lines(self, path: Path, shown: str, depth: int) -> Iterator[ConfLine]:
        """All lines in the order mosquitto reads them; a folder's *.conf stand where it is included."""
        for number, text in enumerate(read_text(path, shown).split("\n"), 1):
            text, where = text.rstrip("\r"), Location(shown, number)
            words = () if text.startswith("#") else tuple(text.split())
            if words and words[0].startswith("#"):
                words = ()  # mosquitto would refuse an indented comment; what is meant is clear
            if words and words[0] == "include_dir":
                yield from self._included(path, ConfLine(text, words, where), depth)
            else:
                yield ConfLine(text, words, where)

    def _included(self, path: Path, line: ConfLine, depth: int) -> Iterator[ConfLine]:
        folder, shown = self._folder(path, line)
        if depth >= MOST_INCLUDES:
            raise line.where.fault(f"include_dir goes {MOST_INCLUDES} deep; does a folder include itself?")
        self.folders.append(folder)
        # mosquitto.conf(5): *.conf only, capital letters before small ones.
        for inner in sorted(folder.glob("*.conf"), key=lambda found: found.name.encode()):
            yield from self.lines(inner, str(shown / inner.name), depth + 1)

    def _folder(self, path: Path, line: ConfLine) -> tuple[Path, Path]:
        """The folder that is included, and what messages call it."""
        named, beside = Path(line.rest), Path(line.where.file).parent
        if not named.is_absolute():
            if not line.rest or not (path.parent / named).is_dir():
                raise line.where.fault(
                    f"include_dir {line.rest!r} is no folder beside this file; correct the path"
                )
            return path.parent / named, beside / named
        if named.is_dir() and named.resolve().is_relative_to(self._root):
            return named, named
        if not named.name or not (path.parent / named.name).is_dir():
            raise line.where.fault(
                f"include_dir {line.rest} is not in {self._root}, and no folder {named.name!r} is beside "
                "this file; copy that folder beside it, also if it is empty"
            )
        return path.parent / named.name, beside / named.name
