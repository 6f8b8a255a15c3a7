"""A picture of a result: SVG text that a notebook shows, and that is saved to a file. It is drawn in `report`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..atomic_write import open_replacement
from ..errors import MisuseError
from ._formats import format_of
from ._result import draw_with

if TYPE_CHECKING:
    from os import PathLike

_STYLE = re.compile("<style>(.*?)</style>", re.DOTALL)
_SHARP = 2  # pixels of a PNG per unit of the picture: sharp on screens with two pixels per point


@dataclass(frozen=True, repr=False)
class Picture:
    """The result of `plot`: a picture that a notebook shows, light or dark as the screen of the reader.

    Parameters
    ----------
    title
        Its title.
    svg
        The picture as SVG text, complete in itself.

    Examples
    --------
    >>> import discreet
    >>> discreet.mine([{"tea", "milk"}] * 3, min_count=1).plot()
    <picture: Share of people who hold each pattern; .save("picture.svg") writes it>
    """

    title: str
    svg: str

    def __repr__(self) -> str:
        return f'<picture: {self.title}; .save("picture.svg") writes it>'

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | PathLike[str]) -> None:
        """Write to an ``.svg``, ``.html`` or ``.png`` file.

        SVG and HTML are sharp at any size, and dark on a dark screen. PNG is for programs without SVG: it is light, and
        needs the extra ``discreet[png]``.
        """
        form = format_of(path, "picture", subject="a picture is written to")
        content = self._png() if form.name == "png" else self.svg
        if form.name == "html":
            content = draw_with("picture_page", self)
        with open_replacement(path) as stream:
            stream.write(content if isinstance(content, bytes) else content.encode())

    def _png(self) -> bytes:
        try:
            # The rasteriser knows no media queries, so the colours by night are removed before.
            import resvg_py
        except ImportError:
            raise MisuseError(
                "A PNG needs the extra: pip install 'discreet[png]'. An .svg or .html file needs none."
            ) from None
        return bytes(resvg_py.svg_to_bytes(svg_string=_STYLE.sub("", self.svg), zoom=_SHARP))
